//! Fast-path CFI: from a frame description to a simple rule, by an interpreter of the call frame instructions that
//! compilers write, on the bytes themselves. Whatever else it meets (expressions, registers in registers, unusual
//! encodings, damage) it leaves to the general way, which gives the same rule where both know one.

mod cie;
mod reader;
mod row;

use address::Svma;

use crate::arch::Processor;
use crate::rule::Rule;

pub(crate) use cie::LastCie;

use reader::entry;

/// A little-endian `.eh_frame`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FastCfi<'s> {
    pub(crate) section: &'s [u8],
    /// Where the file states the section to be.
    pub(crate) section_svma: u64,
    pub(crate) arch: Processor,
    /// The serial of the file.
    pub(crate) file: u32,
}

/// A rule, and where it was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FastRule {
    pub(crate) rule: Rule,
    /// In a function that is no signal trampoline, for it is too long, and not in front of one.
    pub(crate) is_inside: bool,
}

/// Functions of up to so many bytes may be signal trampolines: those of C libraries have 9 to 16.
const SHORT: u64 = 64;

/// Instructions of more bytes are left to the general way, which does not run them again for each address.
const LONGEST: usize = 4096;

impl FastCfi<'_> {
    /// Where the code of the description at `offset` of the section begins, and how long it is, if it covers an address.
    /// `None`: ask the general way.
    pub(crate) fn range(
        &self,
        offset: usize,
        svma: Svma,
        last: &mut LastCie,
    ) -> Option<(u64, u64)> {
        let (mut reader, body) = entry(self.section, offset)?;
        let pointer = u32::from_le_bytes(reader.take()?) as usize;
        let cie_at = body.checked_sub(pointer).filter(|_| pointer != 0)?;
        last.read(self.section, self.file, cie_at, self.arch)?;
        let place = self.section_svma.wrapping_add(body as u64 + 4);
        let start = place.wrapping_add_signed(i64::from(i32::from_le_bytes(reader.take()?)));
        let len = u64::from(u32::from_le_bytes(reader.take()?));
        (svma.0.checked_sub(start)? < len).then_some((start, len))
    }

    /// The rule of an address, by the description at `offset` of the section. `None`: ask the general way.
    ///
    /// Source: LSB core, "The `.eh_frame` section", frame description entries.
    pub(crate) fn rule(&self, offset: usize, svma: Svma, last: &mut LastCie) -> Option<FastRule> {
        let (mut reader, body) = entry(self.section, offset)?;
        let pointer = u32::from_le_bytes(reader.take()?) as usize;
        let cie_at = body.checked_sub(pointer).filter(|_| pointer != 0)?;
        let cie = last.read(self.section, self.file, cie_at, self.arch)?;
        let place = self.section_svma.wrapping_add(body as u64 + 4);
        let start = place.wrapping_add_signed(i64::from(i32::from_le_bytes(reader.take()?)));
        let len = u64::from(u32::from_le_bytes(reader.take()?));
        let target = svma.0.checked_sub(start).filter(|&target| target < len)?;
        let augmentation = reader.uleb()?;
        reader.skip(augmentation)?;
        if reader.bytes.len() > LONGEST {
            return None;
        }
        let row = cie.program.run(reader, target)?;
        let is_inside = len > SHORT && target + 1 < len;
        Some(FastRule { rule: row.rule(cie.signal, self.arch)?, is_inside })
    }
}
