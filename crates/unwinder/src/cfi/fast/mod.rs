//! Fast-path CFI: an interpreter of the call frame instructions that compilers write, from raw bytes to a simple rule.
//! Everything else (expressions, registers in registers, unusual encodings, damage) is left to the general path. If
//! both support a row, they give the same rule.

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
    /// Address that the file states for the section.
    pub(crate) section_svma: u64,
    pub(crate) arch: Processor,
    /// Serial of the file.
    pub(crate) file: u32,
}

/// A rule and its context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FastRule {
    pub(crate) rule: Rule,
    /// True if the function is too long for a signal trampoline, and the address is not its last byte, so that none
    /// follows it.
    pub(crate) is_inside: bool,
}

/// Maximum size of a possible signal trampoline, in bytes: those of C libraries have 9 to 16.
const SHORT: u64 = 64;

/// Maximum size of instructions, in bytes. Longer ones are left to the general path, which does not run them again for
/// each address.
const LONGEST: usize = 4096;

impl FastCfi<'_> {
    /// Returns the start and length of the code of the description at `offset` of the section, if it covers an address.
    /// `None` leaves it to the general path.
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
        let location = self.section_svma.wrapping_add(body as u64 + 4);
        let start = location.wrapping_add_signed(i64::from(i32::from_le_bytes(reader.take()?)));
        let len = u64::from(u32::from_le_bytes(reader.take()?));
        (svma.0.checked_sub(start)? < len).then_some((start, len))
    }

    /// Returns the rule of an address by the description at `offset` of the section. `None` leaves it to the general
    /// path.
    ///
    /// Source: LSB core, "The `.eh_frame` section", frame description entries.
    pub(crate) fn rule(&self, offset: usize, svma: Svma, last: &mut LastCie) -> Option<FastRule> {
        let (mut reader, body) = entry(self.section, offset)?;
        let pointer = u32::from_le_bytes(reader.take()?) as usize;
        let cie_at = body.checked_sub(pointer).filter(|_| pointer != 0)?;
        let cie = last.read(self.section, self.file, cie_at, self.arch)?;
        let location = self.section_svma.wrapping_add(body as u64 + 4);
        let start = location.wrapping_add_signed(i64::from(i32::from_le_bytes(reader.take()?)));
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
