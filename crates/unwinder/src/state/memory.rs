//! Readable memory at the time of a sample: the recorded part of the stack, then the read-only file mappings.

use std::cell::Cell;

use address::{Avma, Svma};
use image_store::{Image, ImageStore};
use module_map::Space;

use crate::arch::{NARROW, Processor, WIDE};

/// The reason why a word of memory is not available.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MemoryError {
    /// It is on the stack, past the end of the dump.
    PastDump,
    /// It is elsewhere: below the stack pointer, on the heap, in writable data.
    NotRecorded,
}

/// Size and byte order of a word in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WordForm {
    /// Eight bytes, little-endian.
    Little64,
    /// Eight bytes, big-endian.
    Big64,
    /// Four bytes, little-endian.
    Little32,
}

impl WordForm {
    /// Returns the form for a processor.
    pub(crate) const fn of(arch: Processor, big_endian: bool) -> Self {
        match (arch.word, big_endian) {
            (NARROW, _) => Self::Little32,
            (_, true) => Self::Big64,
            (_, false) => Self::Little64,
        }
    }
}

/// The memory of one sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleMemory<'a> {
    pub(crate) stack: &'a [u8],
    pub(crate) stack_start: u64,
    pub(crate) form: WordForm,
    pub(crate) space: &'a Space,
    pub(crate) images: &'a ImageStore,
    /// Number of operations that expressions may still run. One row has its own limit, but a stack has many frames.
    pub(crate) steps: &'a Cell<u32>,
}

impl SampleMemory<'_> {
    /// Returns true if words are big-endian.
    pub(crate) const fn is_big_endian(&self) -> bool {
        matches!(self.form, WordForm::Big64)
    }

    /// Size of a word, in bytes.
    pub(crate) const fn word_size(&self) -> u64 {
        if matches!(self.form, WordForm::Little32) { NARROW } else { WIDE }
    }

    /// Wraps a sum to the size of a word.
    #[inline]
    pub(crate) const fn wrap(&self, sum: u64) -> u64 {
        if matches!(self.form, WordForm::Little32) { sum & 0xffff_ffff } else { sum }
    }

    /// Returns the word at an address, in the byte order of the recording.
    #[inline]
    pub(crate) fn read(&self, address: u64) -> Result<u64, MemoryError> {
        let offset = address.wrapping_sub(self.stack_start);
        if let Some(bytes) =
            usize::try_from(offset).ok().and_then(|offset| self.stack.get(offset..))
        {
            if let Some(word) = bytes.first_chunk::<8>() {
                return Ok(self.word(*word));
            }
            return self.last_word(bytes).ok_or(MemoryError::PastDump);
        }
        self.read_elsewhere(address)
    }

    /// Returns the word at an address of the recorded stack.
    #[inline]
    pub(crate) fn recorded(&self, address: u64) -> Option<u64> {
        let offset = usize::try_from(address.wrapping_sub(self.stack_start)).ok()?;
        let bytes = self.stack.get(offset..)?;
        match bytes.first_chunk::<8>() {
            Some(word) => Some(self.word(*word)),
            None => self.last_word(bytes),
        }
    }

    /// Returns the bytes of the recorded stack below an address.
    #[inline]
    pub(crate) fn recorded_below(&self, address: u64) -> &[u8] {
        let end = usize::try_from(address.wrapping_sub(self.stack_start)).ok();
        end.and_then(|end| self.stack.get(..end)).unwrap_or_default()
    }

    /// Returns `size` bytes (1 to 8) as an unsigned number.
    pub(crate) fn read_sized(&self, address: u64, size: u8) -> Result<u64, MemoryError> {
        let word = self.read(address)?;
        let bits = 8 * u32::from(size.clamp(1, 8));
        Ok(if self.is_big_endian() {
            word >> (64 - bits)
        } else {
            word & (u64::MAX >> (64 - bits))
        })
    }

    /// Returns the first word of eight bytes.
    #[inline]
    pub(crate) fn word(&self, bytes: [u8; 8]) -> u64 {
        if matches!(self.form, WordForm::Little64) {
            u64::from_le_bytes(bytes)
        } else {
            self.other_word(bytes)
        }
    }

    /// Returns the first word, in the rarer word forms.
    #[cold]
    fn other_word(&self, bytes: [u8; 8]) -> u64 {
        match self.form {
            WordForm::Little64 => u64::from_le_bytes(bytes),
            WordForm::Big64 => u64::from_be_bytes(bytes),
            WordForm::Little32 => u64::from_le_bytes(bytes) & 0xffff_ffff,
        }
    }

    /// Reads bytes of the recorded stack or of a file that is mapped there read-only. Returns the number of bytes from
    /// the start of `bytes` that are known.
    pub(crate) fn read_bytes(&self, address: u64, bytes: &mut [u8]) -> usize {
        let offset = usize::try_from(address.wrapping_sub(self.stack_start)).ok();
        let recorded = offset.and_then(|offset| self.stack.get(offset..));
        let known = recorded.filter(|known| !known.is_empty()).or_else(|| {
            let (image, svma) = self.mapped_image(Avma(address))?;
            let is_read = match image.origin().root() {
                // The addresses come from expressions in files, which may be untrusted.
                Some(root) => self.images.options().has_data_below(root),
                None => true,
            };
            image.read_only_from(svma).filter(|_| is_read)
        });
        let known = known.unwrap_or_default();
        let len = known.len().min(bytes.len());
        if let (Some(to), Some(from)) = (bytes.get_mut(..len), known.get(..len)) {
            to.copy_from_slice(from);
        }
        len
    }

    /// Returns the first word, of `WORD` bytes, of a byte slice.
    #[inline]
    pub(crate) fn first_word<const WORD: u64>(&self, bytes: &[u8]) -> Option<u64> {
        match bytes.first_chunk() {
            Some(word) => Some(self.word(*word)),
            None if WORD == NARROW => self.last_word(bytes),
            None => None,
        }
    }

    /// Returns the first word of fewer than eight bytes.
    #[cold]
    fn last_word(&self, bytes: &[u8]) -> Option<u64> {
        let word = bytes.first_chunk().filter(|_| self.word_size() == NARROW)?;
        Some(u32::from_le_bytes(*word).into())
    }

    #[cold]
    fn read_elsewhere(&self, address: u64) -> Result<u64, MemoryError> {
        if let Some(word) = self.read_file(address) {
            return Ok(word);
        }
        // Past the dump, but within the possible size of a stack: the recorder's limit truncated it. Stacks are usually
        // 8 MiB, and nothing else follows one closely.
        const STACK_REACH: u64 = 8 << 20;
        let end = self.stack_start.wrapping_add(self.stack.len() as u64);
        let same_mapping = self
            .space
            .lookup(Avma(self.stack_start))
            .is_some_and(|mapping| mapping.contains(Avma(address)));
        if address >= end && (same_mapping || address - end < STACK_REACH) {
            Err(MemoryError::PastDump)
        } else {
            Err(MemoryError::NotRecorded)
        }
    }

    /// Reads a word from a file that is mapped there read-only: memory had the file's content.
    fn read_file(&self, address: u64) -> Option<u64> {
        let (image, svma) = self.mapped_image(Avma(address))?;
        // The addresses come from expressions in files, which may be untrusted.
        let Some(root) = image.origin().root() else { return self.word_of(image, svma) };
        let is_read = self.images.options().has_data_below(root);
        is_read.then(|| self.word_of(image, svma)).flatten()
    }

    fn word_of(&self, image: &Image, svma: Svma) -> Option<u64> {
        let bytes = image.read_only_bytes(svma, self.word_size() as usize)?;
        match bytes.first_chunk::<8>() {
            Some(word) => Some(self.word(*word)),
            None => self.last_word(bytes),
        }
    }

    /// Returns `len` bytes of a file that is mapped there and not writable.
    pub(crate) fn code(&self, address: Avma, len: usize) -> Option<&[u8]> {
        let (image, svma) = self.mapped_image(address)?;
        image.read_only_bytes(svma, len)
    }

    /// Returns the file that is mapped at an address and not writable, and the address that it states for that byte.
    fn mapped_image(&self, address: Avma) -> Option<(&Image, Svma)> {
        let mapping = self.images.mapping_at(address, self.space).filter(|it| !it.writable)?;
        let image = self.images.image(self.space.module(&mapping)?).ok()?.image();
        let svma = image.svma_of_offset(mapping.offset_of(address), mapping.executable)?;
        Some((image, svma))
    }
}
