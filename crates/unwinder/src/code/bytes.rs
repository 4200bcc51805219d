//! The instructions of a file, where they can be read.

use address::Svma;
use iced_x86::{Decoder, DecoderOptions, Instruction};
use module_map::Image;

/// An executable segment that nobody writes.
#[derive(Clone, Copy)]
pub(super) struct CodeBytes<'a> {
    image: &'a Image,
    start: u64,
    bytes: &'a [u8],
}

impl<'a> CodeBytes<'a> {
    /// The segment of an address.
    pub(super) fn around(image: &'a Image, svma: Svma) -> Option<Self> {
        let mut segments = image.segments().iter().filter(|segment| segment.executable);
        let segment = segments.find(|segment| svma.since(segment.svma) < segment.file_size)?;
        let len = usize::try_from(segment.file_size).ok()?;
        let bytes = image.read_only_bytes(segment.svma, len)?;
        Some(Self { image, start: segment.svma.0, bytes })
    }

    /// Where an entry of a switch's table leads, if that is in the same segment.
    pub(super) fn entry(&self, table: u64, index: u64) -> Option<u64> {
        let at = Svma(table.wrapping_add(4 * index));
        let distance = i32::from_le_bytes(*self.image.read_only_bytes(at, 4)?.first_chunk()?);
        let target = table.wrapping_add_signed(distance.into());
        self.from(target).map(|_| target)
    }

    fn from(&self, svma: u64) -> Option<&'a [u8]> {
        let at = usize::try_from(svma.wrapping_sub(self.start)).ok()?;
        self.bytes.get(at..).filter(|bytes| !bytes.is_empty())
    }

    /// A decoder that begins there.
    pub(super) fn decoder(&self, svma: u64) -> Option<Decoder<'a>> {
        Some(Decoder::with_ip(64, self.from(svma)?, svma, DecoderOptions::NONE))
    }

    /// Whether there is nothing between the address and the next place where functions begin but what fills such gaps.
    pub(super) fn is_padding(&self, svma: u64) -> bool {
        const ALIGNMENT: u64 = 16;
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
