//! Entries of one unit of debug information, which is the first of its file and uses the first line program.
//!
//! Source: DWARF 4, 3.1 "Unit Entries", 7.5 "Format of Debugging Information".

use std::ops::Range;

use address::Svma;
use gimli::constants::{
    DW_AT_high_pc, DW_AT_low_pc, DW_AT_stmt_list, DW_FORM_addr, DW_FORM_data8, DW_FORM_sec_offset,
    DW_TAG_compile_unit, DwAt, DwForm, DwTag,
};

use crate::bytes::{push_unsigned, with_length};

/// Shape of an entry: its tag, whether it has children, and its attributes with their forms.
#[derive(Clone, Copy, Debug)]
pub struct Abbreviation(pub DwTag, pub bool, pub &'static [(DwAt, DwForm)]);

/// Entry of the unit, the first of the abbreviations.
pub const UNIT: Abbreviation = Abbreviation(
    DW_TAG_compile_unit,
    true,
    &[
        (DW_AT_low_pc, DW_FORM_addr),
        (DW_AT_high_pc, DW_FORM_data8),
        (DW_AT_stmt_list, DW_FORM_sec_offset),
    ],
);

/// Returns the bytes of `.debug_abbrev`. The code of an abbreviation is its index plus 1.
#[must_use]
pub fn abbreviations(all: &[Abbreviation]) -> Vec<u8> {
    let mut out = Vec::new();
    for (code, &Abbreviation(tag, has_children, attributes)) in (1..).zip(all) {
        push_unsigned(&mut out, code);
        push_unsigned(&mut out, tag.0.into());
        out.push(has_children.into());
        for &(attribute, form) in attributes {
            push_unsigned(&mut out, attribute.0.into());
            push_unsigned(&mut out, form.0.into());
        }
        out.extend([0, 0]);
    }
    out.push(0);
    out
}

/// Builder for `.debug_info`.
#[derive(Debug)]
pub struct DebugInfo {
    out: Vec<u8>,
}

impl DebugInfo {
    /// Creates a unit for a range of addresses, without children.
    #[must_use]
    pub fn new(addresses: &Range<Svma>) -> Self {
        // Length, version, offset of the abbreviations, address size; code of the abbreviation.
        let mut out = vec![0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1];
        out.extend(addresses.start.0.to_le_bytes());
        out.extend(addresses.end.0.saturating_sub(addresses.start.0).to_le_bytes());
        // Offset of the line program.
        out.extend([0; 4]);
        Self { out }
    }

    /// Returns the offset of the next entry from the start of the unit.
    #[must_use]
    pub const fn offset(&self) -> u32 {
        self.out.len() as u32
    }

    /// Starts an entry. The caller appends the values of its attributes.
    pub fn entry(&mut self, code: u64) -> &mut Vec<u8> {
        push_unsigned(&mut self.out, code);
        &mut self.out
    }

    /// Ends the children of an entry.
    pub fn end_children(&mut self) {
        self.out.push(0);
    }

    /// Returns the bytes of the section.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        self.end_children();
        with_length(self.out)
    }
}
