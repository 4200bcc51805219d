//! Instructions about signed return addresses of aarch64. An unwinder of user stacks does not need them: it strips
//! every signature. gimli supports only the oldest of them; the newer ones are replaced by no-ops in a copy of their
//! section.
//!
//! ```text
//!   0x2d  DW_CFA_AARCH64_negate_ra_state                 supported by gimli
//!   0x2c  DW_CFA_AARCH64_negate_ra_state_with_pc         becomes DW_CFA_nop
//!   0x2b  DW_CFA_AARCH64_set_ra_state  ULEB128, SLEB128  becomes DW_CFA_nop, and so does each byte of its operands
//! ```
//!
//! Source: DWARF for the Arm 64-bit Architecture, "Call frame instructions"; DWARF 5, sections 6.4.1, 6.4.2 and 7.24;
//! LSB core, "The `.eh_frame` section".

use gimli::constants as dw;
use hashbrown::HashMap;

use crate::cfi::entries::{entries, word};
use crate::cfi::fde::LONGEST_AUGMENTATION;

/// `DW_CFA_AARCH64_set_ra_state`: the state, and the distance to the signing instruction.
pub(super) const SET_RA_STATE: u8 = 0x2b;
/// `DW_CFA_AARCH64_negate_ra_state_with_pc`.
pub(super) const NEGATE_RA_STATE_WITH_PC: u8 = 0x2c;

/// Size of an address, in bytes.
const ADDRESS: usize = 8;

/// The facts of a common information entry that locate the instructions of its descriptions.
#[derive(Clone, Copy)]
struct CieLayout {
    /// Offset of its own instructions in the section.
    instructions: usize,
    /// Size of an encoded address, in bytes.
    pointer: usize,
    /// True if descriptions state the length of their augmentation.
    has_length: bool,
}

/// A byte reader from an offset on.
struct SectionReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Returns a copy of a little-endian section with instructions that gimli supports; `None` if it supports all of them
/// in the section itself.
pub(super) fn translated(section: &[u8], is_eh: bool) -> Option<Vec<u8>> {
    let mut layouts = HashMap::new();
    let mut changed: Option<Vec<u8>> = None;
    for (offset, size) in entries(section, true) {
        let end = offset.saturating_add(size);
        let Some(bytes) = section.get(..end) else { break };
        let Some((start, pointer)) = instructions(bytes, offset, is_eh, &mut layouts) else {
            continue;
        };
        let mut reader = SectionReader { bytes, at: start };
        while let Some(replaced) = reader.instruction(pointer) {
            if let Some(range) = replaced {
                let copy = changed.get_or_insert_with(|| section.to_vec());
                copy.get_mut(range)?.fill(dw::DW_CFA_nop.0);
            }
        }
    }
    changed
}

/// Returns the offset of an entry's instructions, and the size of an address in them.
fn instructions(
    bytes: &[u8],
    offset: usize,
    is_eh: bool,
    layouts: &mut HashMap<usize, Option<CieLayout>>,
) -> Option<(usize, usize)> {
    let is_long = word(bytes, offset, true)? == u32::MAX;
    let id_at = offset + if is_long { 12 } else { 4 };
    let id = word(bytes, id_at, true)?;
    // In `.debug_frame`, ids are as long as lengths.
    let body = id_at + if is_long && !is_eh { 8 } else { 4 };
    let is_common = id == if is_eh { 0 } else { u32::MAX };
    let common = match (is_common, is_eh) {
        (true, _) => offset,
        (false, true) => id_at.checked_sub(id as usize)?,
        (false, false) => id as usize,
    };
    let known = layouts.get(&common).copied();
    let layout = match known {
        Some(layout) => layout?,
        None if is_common => {
            let layout = layout(bytes, body);
            layouts.insert(common, layout);
            layout?
        }
        // A common entry after its descriptions, which linkers do not write.
        None => return None,
    };
    if is_common {
        return Some((layout.instructions, layout.pointer));
    }
    let mut reader = SectionReader { bytes, at: body };
    reader.skip(2 * layout.pointer)?;
    if layout.has_length {
        let length = reader.uleb()?;
        reader.skip(usize::try_from(length).ok()?)?;
    }
    Some((reader.at, layout.pointer))
}

/// Reads a common information entry from its version on.
fn layout(bytes: &[u8], body: usize) -> Option<CieLayout> {
    let mut reader = SectionReader { bytes, at: body };
    let version = reader.byte()?;
    let letters = bytes.get(reader.at..)?.iter().take(LONGEST_AUGMENTATION + 1);
    let length = letters.copied().position(|byte| byte == 0)?;
    let letters = bytes.get(reader.at..reader.at + length)?;
    reader.skip(length + 1)?;
    if version >= 4 {
        // The sizes of addresses and of segments.
        reader.skip(2)?;
    }
    reader.uleb()?;
    reader.uleb()?;
    if version == 1 {
        reader.skip(1)?
    } else {
        reader.uleb().map(drop)?
    }
    let mut layout = CieLayout { instructions: 0, pointer: ADDRESS, has_length: false };
    if let Some(letters) = letters.strip_prefix(b"z") {
        layout.has_length = true;
        let length = usize::try_from(reader.uleb()?).ok()?;
        let end = reader.at.checked_add(length)?;
        for letter in letters {
            match letter {
                b'R' => layout.pointer = encoded_size(reader.byte()?)?,
                b'L' => reader.skip(1)?,
                b'P' => {
                    let size = encoded_size(reader.byte()?)?;
                    reader.skip(size)?;
                }
                _ => {}
            }
        }
        reader.at = end;
    }
    layout.instructions = reader.at;
    Some(layout)
}

/// Returns the size of an encoded address, in bytes; `None` if it varies from address to address.
fn encoded_size(encoding: u8) -> Option<usize> {
    match dw::DwEhPe(encoding & 0x0f) {
        dw::DW_EH_PE_absptr | dw::DW_EH_PE_udata8 | dw::DW_EH_PE_sdata8 => Some(8),
        dw::DW_EH_PE_udata2 | dw::DW_EH_PE_sdata2 => Some(2),
        dw::DW_EH_PE_udata4 | dw::DW_EH_PE_sdata4 => Some(4),
        _ => None,
    }
}

impl SectionReader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn skip(&mut self, len: usize) -> Option<()> {
        self.at = self.at.checked_add(len).filter(|&at| at <= self.bytes.len())?;
        Some(())
    }

    /// Reads an unsigned number; signed ones are skipped correctly, too.
    fn uleb(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn block(&mut self) -> Option<()> {
        let length = self.uleb()?;
        self.skip(usize::try_from(length).ok()?)
    }

    /// Skips an instruction, and returns its range if it must be replaced. `None` at the end and at an unknown
    /// instruction.
    fn instruction(&mut self, pointer: usize) -> Option<Option<std::ops::Range<usize>>> {
        let start = self.at;
        let op = self.byte()?;
        match (dw::DwCfa(op & 0xc0), dw::DwCfa(op)) {
            (dw::DW_CFA_advance_loc | dw::DW_CFA_restore, _) => {}
            (dw::DW_CFA_offset, _) => drop(self.uleb()?),
            (_, dw::DW_CFA_set_loc) => self.skip(pointer)?,
            (_, dw::DW_CFA_advance_loc1) => self.skip(1)?,
            (_, dw::DW_CFA_advance_loc2) => self.skip(2)?,
            (_, dw::DW_CFA_advance_loc4) => self.skip(4)?,
            (_, dw::DW_CFA_def_cfa_expression) => self.block()?,
            (_, dw::DW_CFA_expression | dw::DW_CFA_val_expression) => {
                self.uleb()?;
                self.block()?;
            }
            (_, dw::DwCfa(SET_RA_STATE)) => {
                self.uleb()?;
                self.uleb()?;
                return Some(Some(start..self.at));
            }
            (_, dw::DwCfa(NEGATE_RA_STATE_WITH_PC)) => return Some(Some(start..self.at)),
            (_, op) => {
                for _ in 0..operands(op)? {
                    self.uleb()?;
                }
            }
        }
        Some(None)
    }
}

/// Returns the number of LEB128 operands of an instruction; `None` for unknown ones.
const fn operands(op: dw::DwCfa) -> Option<u32> {
    match op {
        dw::DW_CFA_nop
        | dw::DW_CFA_remember_state
        | dw::DW_CFA_restore_state
        | dw::DW_CFA_AARCH64_negate_ra_state => Some(0),
        dw::DW_CFA_restore_extended
        | dw::DW_CFA_undefined
        | dw::DW_CFA_same_value
        | dw::DW_CFA_def_cfa_register
        | dw::DW_CFA_def_cfa_offset
        | dw::DW_CFA_def_cfa_offset_sf
        | dw::DW_CFA_GNU_args_size => Some(1),
        dw::DW_CFA_offset_extended
        | dw::DW_CFA_register
        | dw::DW_CFA_def_cfa
        | dw::DW_CFA_offset_extended_sf
        | dw::DW_CFA_def_cfa_sf
        | dw::DW_CFA_val_offset
        | dw::DW_CFA_val_offset_sf => Some(2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A common entry of `.eh_frame` as compilers write it, and a description with these instructions.
    fn section(instructions: &[u8]) -> Vec<u8> {
        let common = [16, 0, 0, 0, 0, 0, 0, 0, 1, b'z', b'R', 0, 4, 0x78, 30, 1, 0x1b, 0x0c, 31, 0];
        let length = 4 + 8 + 1 + instructions.len() as u8;
        let head = [length, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0];
        [&common[..], &head, instructions].concat()
    }

    #[test]
    fn newer_instructions_become_nops() {
        // advance 1; set_ra_state 1, -4; advance 1; def_cfa_offset 16; expression of x29 containing these bytes;
        // negate_ra_state_with_pc; negate_ra_state
        let before =
            [0x41, 0x2b, 1, 0x7c, 0x41, 0x0e, 16, 0x10, 29, 2, 0x2b, 0x2c, 0x41, 0x2c, 0x2d];
        let after = [0x41, 0, 0, 0, 0x41, 0x0e, 16, 0x10, 29, 2, 0x2b, 0x2c, 0x41, 0, 0x2d];
        assert_eq!(translated(&section(&before), true), Some(section(&after)));
        assert_eq!(translated(&section(&after), true), None);
    }

    #[test]
    fn nothing_is_replaced_behind_what_is_unknown() {
        assert_eq!(translated(&section(&[0x41, 0x3f, 0x2c]), true), None);
        assert_eq!(translated(&section(&[0x2b, 1]), true), None);
        assert_eq!(translated(&[0xff; 40], true), None);
        assert_eq!(translated(&[], true), None);
    }

    #[test]
    fn sections_for_debuggers_have_other_entries() {
        let common = [10, 0, 0, 0, 255, 255, 255, 255, 3, 0, 4, 0x78, 30, 0x2c];
        let head = [22, 0, 0, 0, 0, 0, 0, 0];
        let address = [0; 16];
        let before = [&common[..], &head, &address, &[0x41, 0x2c]].concat();
        let common = [10, 0, 0, 0, 255, 255, 255, 255, 3, 0, 4, 0x78, 30, 0];
        let after = [&common[..], &head, &address, &[0x41, 0]].concat();
        assert_eq!(translated(&before, false), Some(after));
    }
}
