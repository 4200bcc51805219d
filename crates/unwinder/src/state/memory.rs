//! What can be read at the time of a sample: the recorded part of the stack, then the file-backed mappings that nobody
//! can write.

use std::cell::Cell;

use address::Avma;
use module_map::{ImageStore, Space};

/// Why a word of memory is not to be had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MemoryError {
    /// It is on the stack, past the end of what was recorded.
    PastDump,
    /// It is anywhere else: below the stack pointer, on the heap, in writable data.
    NotRecorded,
}

/// The memory of one sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory<'a> {
    pub(crate) stack: &'a [u8],
    pub(crate) stack_start: u64,
    pub(crate) big_endian: bool,
    pub(crate) space: &'a Space,
    pub(crate) images: &'a ImageStore,
    /// How many operations expressions may still run: what one row has is limited, but a stack has many frames.
    pub(crate) steps: &'a Cell<u32>,
}

impl Memory<'_> {
    /// The eight bytes at an address, in the byte order of the recording.
    #[inline]
    pub(crate) fn read(&self, address: u64) -> Result<u64, MemoryError> {
        let offset = address.wrapping_sub(self.stack_start);
        if let Some(bytes) =
            usize::try_from(offset).ok().and_then(|offset| self.stack.get(offset..))
        {
            if let Some(word) = bytes.first_chunk::<8>() {
                return Ok(self.word(*word));
            }
            return Err(MemoryError::PastDump);
        }
        self.read_elsewhere(address)
    }

    /// The eight bytes at an address of the recorded stack.
    #[inline]
    pub(crate) fn recorded(&self, address: u64) -> Option<u64> {
        let offset = usize::try_from(address.wrapping_sub(self.stack_start)).ok()?;
        Some(self.word(*self.stack.get(offset..)?.first_chunk::<8>()?))
    }

    /// The bytes of the recorded stack up to an address.
    #[inline]
    pub(crate) fn recorded_below(&self, address: u64) -> &[u8] {
        let end = usize::try_from(address.wrapping_sub(self.stack_start)).ok();
        end.and_then(|end| self.stack.get(..end)).unwrap_or_default()
    }

    /// `size` bytes (1 to 8) as an unsigned number.
    pub(crate) fn read_sized(&self, address: u64, size: u8) -> Result<u64, MemoryError> {
        let word = self.read(address)?;
        let bits = 8 * u32::from(size.clamp(1, 8));
        Ok(if self.big_endian { word >> (64 - bits) } else { word & (u64::MAX >> (64 - bits)) })
    }

    #[inline]
    pub(crate) fn word(&self, bytes: [u8; 8]) -> u64 {
        if self.big_endian { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) }
    }

    #[cold]
    fn read_elsewhere(&self, address: u64) -> Result<u64, MemoryError> {
        if let Some(word) = self.read_file(address) {
            return Ok(word);
        }
        // Past the dump, but within what a stack can be: the recorder's limit cut it off. Stacks are 8 MiB as a
        // rule, and nothing else follows one closely.
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

    /// Bytes of a file that is mapped there read-only: they were what the file says.
    fn read_file(&self, address: u64) -> Option<u64> {
        let bytes = self.code(Avma(address), 8)?;
        Some(self.word(*bytes.first_chunk::<8>()?))
    }

    /// Up to `len` bytes of a file that is mapped there and not writable.
    pub(crate) fn code(&self, address: Avma, len: usize) -> Option<&[u8]> {
        let mapping = self.space.lookup(address).filter(|mapping| !mapping.writable)?;
        let image = self.images.image(self.space.module(&mapping)?).ok()?.image();
        let svma = image.svma_of_offset(mapping.offset_of(address), mapping.executable)?;
        image.read_only_bytes(svma, len)
    }
}
