//! The parts of an `.eh_frame` common information entry that the fast path needs.

use gimli::constants as dw;

use crate::arch::Processor;
use crate::cfi::fast::LONGEST;
use crate::cfi::fast::reader::{CfiReader, entry};
use crate::cfi::fast::row::{CfiProgram, CfiRow};
use crate::cfi::fde::LONGEST_AUGMENTATION;

/// The only encoding of addresses that compilers write for code.
const PCREL_SDATA4: u8 = dw::DW_EH_PE_pcrel.0 | dw::DW_EH_PE_sdata4.0;

/// The relevant contents of a common information entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct FastCie {
    pub(super) program: CfiProgram,
    pub(super) signal: bool,
}

/// The last read common information entry: neighbours in a file share theirs.
#[derive(Default, Debug)]
pub(crate) struct LastCie {
    /// File and offset.
    key: Option<(u32, usize)>,
    cie: Option<FastCie>,
}

impl LastCie {
    /// Returns the entry at `offset` of a file's section; `None` if the fast path does not support it.
    pub(super) fn read(
        &mut self,
        section: &[u8],
        file: u32,
        offset: usize,
        arch: Processor,
    ) -> Option<&FastCie> {
        let key = Some((file, offset));
        if self.key != key {
            *self = Self { key, cie: FastCie::parse(section, offset, arch) };
        }
        self.cie.as_ref()
    }
}

impl FastCie {
    /// Source: LSB core, "The `.eh_frame` section"; DWARF 5, section 6.4.1.
    fn parse(section: &[u8], offset: usize, arch: Processor) -> Option<Self> {
        let (mut reader, _) = entry(section, offset)?;
        if u32::from_le_bytes(reader.take()?) != 0 || !matches!(reader.u8()?, 1 | 3) {
            return None;
        }
        let string = reader.bytes.iter().take(LONGEST_AUGMENTATION + 1);
        let end = string.copied().position(|byte| byte == 0)?;
        let augmentation = reader.bytes.get(..end)?;
        reader.skip(end as u64 + 1)?;
        let code_align = reader.uleb()?;
        let data_align = reader.sleb()?;
        if reader.uleb()? != u64::from(arch.return_address) {
            return None;
        }
        // Without an augmentation, addresses are absolute, which is another encoding.
        let letters = augmentation.strip_prefix(b"z")?;
        let len = reader.uleb()?;
        let data = CfiReader { bytes: reader.bytes.get(..usize::try_from(len).ok()?)? };
        reader.skip(len)?;
        let signal = read_augmentation(letters, data)?;
        if reader.bytes.len() > LONGEST {
            return None;
        }
        let mut program = CfiProgram { arch, code_align, data_align, initial: CfiRow::EMPTY };
        program.initial = program.run(reader, u64::MAX)?;
        Some(Self { program, signal })
    }
}

/// Reads the data of the augmentation's letters. Returns true if it marks signal frames. `None` for unusual encodings
/// of addresses and for unknown letters.
fn read_augmentation(letters: &[u8], mut data: CfiReader<'_>) -> Option<bool> {
    const FORMAT: u8 = 0x0f;
    let (mut encoding, mut signal) = (0, false);
    for letter in letters {
        match letter {
            b'R' => encoding = data.u8()?,
            b'L' => drop(data.u8()?),
            // The personality: only the usual four-byte encodings.
            b'P' => match dw::DwEhPe(data.u8()? & FORMAT) {
                dw::DW_EH_PE_udata4 | dw::DW_EH_PE_sdata4 => drop(data.take::<4>()?),
                _ => return None,
            },
            b'S' => signal = true,
            // Return addresses are signed with the B key.
            b'B' => {}
            _ => return None,
        }
    }
    (encoding == PCREL_SDATA4).then_some(signal)
}
