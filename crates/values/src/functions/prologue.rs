//! The prologue of a function, during which variables in its frame have no value yet.

use std::ops::Range;

use gimli::{Operation, Reader};

use crate::dwarf::{LoadedUnit, Ranges, Sources};
use crate::error::Error;
use crate::expr::Location;

/// Returns the prologue of a function without optimization; empty if it is unknown.
///
/// It ends at the row that the compiler marks, or else at the second row of the function, as debuggers assume.
///
/// Source: DWARF 5, section 6.2.2.
pub(super) fn prologue<R: Reader<Offset = usize>>(
    sources: &Sources<'_, R>,
    unit: &LoadedUnit<'_, R>,
    entry: Option<u64>,
    ranges: &Ranges,
) -> Result<Range<u64>, Error> {
    let code = ranges.iter().find(|range| Some(range.start) == entry);
    let (Some(code), Some(program)) = (code, unit.unit.line_program.clone()) else {
        return Ok(0..0);
    };
    let (mut marked, mut second) = (u64::MAX, u64::MAX);
    let mut rows = program.rows();
    while let Ok(Some((_, row))) = rows.next_row() {
        sources.meter().steps(1)?;
        let address = row.address();
        if address <= code.start || address >= code.end || row.end_sequence() {
            continue;
        }
        if row.prologue_end() {
            marked = marked.min(address);
        }
        if row.is_stmt() {
            second = second.min(address);
        }
    }
    let end = if marked == u64::MAX { second } else { marked };
    Ok(if end == u64::MAX { 0..0 } else { code.start..end })
}

/// Returns true if a variable is stored into the frame by the prologue or later, and its location does not tell when.
pub(super) fn is_stored_late(location: &Location, frame_base: &Location) -> bool {
    let Location::Everywhere(program) = location else { return false };
    let Some(operations) = program.operations() else { return false };
    let &[Operation::FrameOffset { offset }, ..] = operations.as_slice() else { return false };
    let is_cfa = |base: &Location| {
        let Location::Everywhere(base) = base else { return false };
        matches!(base.operations().as_deref(), Some([Operation::CallFrameCFA]))
    };
    // Above the frame address is memory of the caller.
    !(offset >= 0 && is_cfa(frame_base))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::expr::Program;

    #[test]
    fn memory_of_the_frame_is_stored_late() {
        let everywhere = |bytes: &[u8]| Location::Everywhere(Arc::new(Program::of(bytes)));
        let (cfa, register) = (everywhere(&[0x9c]), everywhere(&[0x56]));
        let late = |location: &Location, base| is_stored_late(location, base);
        // fbreg -20, fbreg 8: a local, and an argument that the caller stored.
        let (local, argument) = (everywhere(&[0x91, 0x6c]), everywhere(&[0x91, 8]));
        assert_eq!([late(&local, &cfa), late(&argument, &cfa)], [true, false]);
        assert_eq!([late(&local, &register), late(&argument, &register)], [true, true]);
        // A list states the addresses of each store.
        let program = Arc::new(Program::of(&[0x91, 0x6c]));
        assert!(!late(&Location::List(vec![(0..9, program)]), &cfa));
        assert!(!late(&everywhere(&[0x55]), &cfa));
    }
}
