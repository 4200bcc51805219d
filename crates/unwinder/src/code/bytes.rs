//! The readable instructions of a file.

use address::Svma;
use iced_x86::{Decoder, DecoderOptions, Instruction};
use image_store::Image;

use crate::arch::{Arch, JumpTable, Processor, processor};

/// An executable segment that is not writable.
#[derive(Clone, Copy)]
pub(super) struct CodeBytes<'a> {
    image: &'a Image,
    start: u64,
    bytes: &'a [u8],
    pub(super) arch: Processor,
}

impl<'a> CodeBytes<'a> {
    /// Returns the segment of an address, for x86.
    pub(super) fn around(image: &'a Image, svma: Svma) -> Option<Self> {
        Self::of(image, svma).filter(|code| code.arch.is_x86())
    }

    /// Returns the segment of an address, for processors with a link register.
    pub(super) fn with_link(image: &'a Image, svma: Svma) -> Option<Self> {
        Self::of(image, svma).filter(|code| !code.arch.is_x86())
    }

    /// Returns the segment of an address.
    pub(super) fn of(image: &'a Image, svma: Svma) -> Option<Self> {
        let mut segments = image.segments().iter().filter(|segment| segment.executable);
        let segment = segments.find(|segment| svma.since(segment.svma) < segment.file_size)?;
        let len = usize::try_from(segment.file_size).ok()?;
        let bytes = image.read_only_bytes(segment.svma, len)?;
        let arch = image.arch().and_then(processor)?;
        Some(Self { image, start: segment.svma.0, bytes, arch })
    }

    /// Returns the target of an entry of a switch's table, if it is in the same segment.
    pub(super) fn entry(&self, table: JumpTable, index: u64) -> Option<u64> {
        let at = Svma(table.at.wrapping_add(4 * index));
        let distance = i32::from_le_bytes(*self.image.read_only_bytes(at, 4)?.first_chunk()?);
        let target = table.base.wrapping_add_signed(distance.into()) & self.arch.addresses();
        self.from(target).map(|_| target)
    }

    /// Returns the address of the word that the procedure linkage table entry at `at` jumps through. The word is
    /// `offset` bytes from the table of such words; position-independent code has the table's address in ebx.
    ///
    /// Source: psABI i386, section 5.2.3, "Procedure Linkage Table".
    pub(super) fn linkage_slot(&self, at: u64, offset: i64) -> Option<u64> {
        const LINKAGE: [&str; 3] = [".plt", ".plt.sec", ".plt.got"];
        let mut linkage = LINKAGE.into_iter().filter_map(|name| self.image.section(name));
        let is_linkage = linkage.any(|section| Svma(at).since(section.svma) < section.size);
        let words = self.image.section(".got.plt").or_else(|| self.image.section(".got"))?;
        is_linkage.then(|| words.svma.0.wrapping_add_signed(offset) & self.arch.addresses())
    }

    /// Returns the register that a function sets to its return address, if it does nothing else: 32-bit code gets its
    /// own address this way.
    pub(super) fn address_thunk(&self, function: u64) -> Option<u8> {
        // mov (%esp), register; ret
        let &[0x8b, register, 0x24, 0xc3, ..] = self.from(function)? else { return None };
        (self.arch.is(Arch::X86) && register & 0xc7 == 0x04).then_some(register >> 3)
    }

    /// Start of the segment in its file's own addresses.
    pub(super) const fn start(&self) -> u64 {
        self.start
    }

    /// All bytes of the segment.
    pub(super) const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the code from an address to the end of the segment.
    pub(super) fn from(&self, svma: u64) -> Option<&'a [u8]> {
        let at = usize::try_from(svma.wrapping_sub(self.start)).ok()?;
        self.bytes.get(at..).filter(|bytes| !bytes.is_empty())
    }

    /// Returns a decoder that begins at an address.
    pub(super) fn decoder(&self, svma: u64) -> Option<Decoder<'a>> {
        Some(Decoder::with_ip(self.arch.bitness(), self.from(svma)?, svma, DecoderOptions::NONE))
    }

    /// Returns true if only padding lies between the address and the next aligned address, a possible function start.
    pub(super) fn is_padding(&self, svma: u64) -> bool {
        const ALIGNMENT: u64 = 16;
        if !self.arch.is_x86() {
            let Some(code) = self.from(svma) else { return true };
            let len = (svma.wrapping_neg() % ALIGNMENT) as usize;
            let code = code.get(..len).unwrap_or(code);
            return !code.is_empty() && self.arch.is_filler(code);
        }
        let Some(mut decoder) = self.decoder(svma) else { return true };
        let mut at = svma;
        let mut instruction = Instruction::default();
        while !at.is_multiple_of(ALIGNMENT) && decoder.can_decode() {
            decoder.decode_out(&mut instruction);
            if !matches!(
                instruction.mnemonic(),
                iced_x86::Mnemonic::Nop | iced_x86::Mnemonic::Int3 | iced_x86::Mnemonic::Hlt
            ) {
                return false;
            }
            at = instruction.next_ip();
        }
        at != svma && at.is_multiple_of(ALIGNMENT)
    }
}
