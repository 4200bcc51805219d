//! Tables of abbreviations, read once for all units that share them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use budget::Meter;
use gimli::{Abbreviations, DwForm, Dwarf, Reader, Section as _, UnitHeader, constants as c};

use crate::error::Error;

/// Number of tables that are held in memory.
const HELD_TABLES: usize = 256;
/// Number of tables whose forms are held in memory.
const HELD_FORMS: usize = 1 << 16;

/// Tables by section and offset.
#[derive(Debug, Default)]
pub(super) struct Tables {
    held: RefCell<BTreeMap<(u32, usize), Arc<Abbreviations>>>,
    forms: RefCell<BTreeMap<(u32, usize), Forms>>,
}

/// Forms of a table that need other places than the unit and its sections of strings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Forms {
    /// Strings by their index.
    pub(super) strings_by_index: bool,
    /// References to entries of other units or files.
    pub(super) other_units: bool,
}

impl Tables {
    /// Returns the table of a unit. Reading one is charged by its size: many units can name the same large one.
    pub(super) fn of<R: Reader<Offset = usize>>(
        &self,
        dwarf: &Dwarf<R>,
        section: u32,
        header: &UnitHeader<R>,
        meter: &Meter,
    ) -> Result<Arc<Abbreviations>, Error> {
        let offset = header.debug_abbrev_offset().0;
        let key = (section, offset);
        if let Some(table) = self.held.borrow().get(&key) {
            return Ok(table.clone());
        }
        self.forms_at(dwarf, key, meter)?;
        let table = dwarf.abbreviations(header)?;
        let mut held = self.held.borrow_mut();
        if held.len() >= HELD_TABLES {
            held.clear();
        }
        held.insert(key, table.clone());
        Ok(table)
    }

    /// Returns the forms of a unit's table, which is not parsed for it.
    pub(super) fn forms<R: Reader<Offset = usize>>(
        &self,
        dwarf: &Dwarf<R>,
        section: u32,
        header: &UnitHeader<R>,
        meter: &Meter,
    ) -> Result<Forms, Error> {
        let key = (section, header.debug_abbrev_offset().0);
        if let Some(forms) = self.forms.borrow().get(&key) {
            return Ok(*forms);
        }
        self.forms_at(dwarf, key, meter)
    }

    fn forms_at<R: Reader<Offset = usize>>(
        &self,
        dwarf: &Dwarf<R>,
        key: (u32, usize),
        meter: &Meter,
    ) -> Result<Forms, Error> {
        let forms = forms(dwarf.debug_abbrev.reader(), key.1, meter)?;
        let mut known = self.forms.borrow_mut();
        if known.len() >= HELD_FORMS {
            known.clear();
        }
        known.insert(key, forms);
        Ok(forms)
    }
}

/// Returns the forms of a table, and charges its attributes.
///
/// Source: DWARF 5, section 7.5.3.
fn forms<R: Reader<Offset = usize>>(
    section: &R,
    offset: usize,
    meter: &Meter,
) -> Result<Forms, Error> {
    let mut forms = Forms::default();
    let mut rest = section.clone();
    rest.skip(offset)?;
    while rest.read_uleb128()? != 0 {
        rest.skip_leb128()?;
        rest.read_u8()?;
        loop {
            meter.steps(1)?;
            let (name, form) = (rest.read_uleb128()?, rest.read_uleb128()?);
            if (name, form) == (0, 0) {
                break;
            }
            match DwForm(u16::try_from(form).unwrap_or(0)) {
                c::DW_FORM_implicit_const => rest.skip_leb128()?,
                c::DW_FORM_strx
                | c::DW_FORM_strx1
                | c::DW_FORM_strx2
                | c::DW_FORM_strx3
                | c::DW_FORM_strx4
                | c::DW_FORM_GNU_str_index => forms.strings_by_index = true,
                c::DW_FORM_ref_addr
                | c::DW_FORM_ref_sig8
                | c::DW_FORM_ref_sup4
                | c::DW_FORM_ref_sup8
                | c::DW_FORM_GNU_ref_alt => forms.other_units = true,
                c::DW_FORM_indirect => {
                    (forms.strings_by_index, forms.other_units) = (true, true);
                }
                _ => {}
            }
        }
    }
    Ok(forms)
}

#[cfg(test)]
mod tests {
    use budget::Budget;
    use gimli::{EndianSlice, LittleEndian};

    use super::*;

    #[test]
    fn attributes_are_charged() {
        // Two abbreviations: a unit with a name and an implicit constant, and an entry without attributes.
        let table = [1, 0x11, 1, 3, 8, 0x0b, 0x21, 0x7f, 0, 0, 2, 0x34, 0, 0, 0, 0];
        let steps = |offset| {
            let meter = Meter::new(&Budget::default(), 0);
            let result = forms(&EndianSlice::new(&table, LittleEndian), offset, &meter);
            result.map(|_| meter.used().0).map_err(|error| error.to_string())
        };
        assert_eq!([steps(0), steps(10), steps(15)], [Ok(4), Ok(1), Ok(0)]);
        assert!(steps(16).is_err() && steps(17).is_err());
    }

    #[test]
    fn forms_that_need_other_places_are_known() {
        let forms = |form: u8| {
            let table = [1, 0x34, 0, 3, form, 0, 0, 0];
            let meter = Meter::new(&Budget::default(), 0);
            let forms = forms(&EndianSlice::new(&table, LittleEndian), 0, &meter);
            forms.map(|it| (it.strings_by_index, it.other_units)).ok()
        };
        // DW_FORM_strp, strx1, ref4, ref_addr, ref_sig8, indirect.
        let found = [0x0e, 0x25, 0x13, 0x10, 0x20, 0x16].map(forms);
        let expected = [
            (false, false),
            (true, false),
            (false, false),
            (false, true),
            (false, true),
            (true, true),
        ];
        assert_eq!(found, expected.map(Some));
    }
}
