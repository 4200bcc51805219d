//! Tables of abbreviations, read once for all units that share them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use budget::Meter;
use gimli::{Abbreviations, Dwarf, Reader, Section as _, UnitHeader};

use crate::error::Error;

/// Number of tables that are held in memory.
const HELD_TABLES: usize = 256;

/// Tables by section and offset.
#[derive(Debug, Default)]
pub(super) struct Tables {
    held: RefCell<BTreeMap<(u32, usize), Arc<Abbreviations>>>,
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
        charge(dwarf.debug_abbrev.reader(), offset, meter)?;
        let table = dwarf.abbreviations(header)?;
        let mut held = self.held.borrow_mut();
        if held.len() >= HELD_TABLES {
            held.clear();
        }
        held.insert(key, table.clone());
        Ok(table)
    }
}

/// Charges the attributes of a table.
///
/// Source: DWARF 5, section 7.5.3.
fn charge<R: Reader<Offset = usize>>(
    section: &R,
    offset: usize,
    meter: &Meter,
) -> Result<(), Error> {
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
            if form == u64::from(gimli::DW_FORM_implicit_const.0) {
                rest.skip_leb128()?;
            }
        }
    }
    Ok(())
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
            let result = charge(&EndianSlice::new(&table, LittleEndian), offset, &meter);
            result.map(|()| meter.used().0).map_err(|error| error.to_string())
        };
        assert_eq!([steps(0), steps(10), steps(15)], [Ok(4), Ok(1), Ok(0)]);
        assert!(steps(16).is_err() && steps(17).is_err());
    }
}
