//! Units that may have code but state no ranges. Their functions and rows are read once for all addresses that are in
//! no other unit's ranges, so that a unit is queried only for addresses that it covers.

use std::ops::Range;

use budget::HeldMemory;
use hashbrown::HashMap;
use rayon::prelude::*;

use crate::addresses::{AddressIndex, OpenSlots};
use crate::dwarf::file::DwarfFile;
use crate::dwarf::lines;
use crate::dwarf::split::split_id;
use crate::dwarf::unit::Unit;
use crate::dwarf::units::no_lines;
use crate::dwarf::walk::function_ranges;
use crate::finding::SymbolFindingKind;

/// The units without ranges that cover requested addresses.
#[derive(Default)]
pub(crate) struct RangelessUnits {
    /// For each address, the unit to query.
    pub(crate) units: Vec<Option<u32>>,
    /// Damaged or missing parts.
    pub(crate) damage: Vec<(SymbolFindingKind, u64)>,
}

impl RangelessUnits {
    /// Reads the units without ranges, for addresses in no unit's ranges. The first unit with a function at an address
    /// is chosen, else the first with rows.
    pub(crate) fn find(
        file: &DwarfFile<'_>,
        index: &AddressIndex<'_>,
        wants_entries: bool,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Self {
        let mut found = Self { units: vec![None; index.all().len()], damage: Vec::new() };
        let rangeless: Vec<(u32, &Unit<'_>)> =
            (0..).zip(&file.units).filter(|(_, unit)| may_hold_code(file, unit)).collect();
        let mut open = OpenSlots::new(index.all().len());
        if wants_entries {
            let missing = rangeless.iter().filter(|(_, unit)| split_id(unit).is_some());
            let missing = missing.map(|(_, unit)| unit.offset as u64);
            found.damage.extend(missing.map(|at| (SymbolFindingKind::SplitUnitMissing, at)));
            let ranges: Vec<UnitFunctionRanges> = rangeless
                .par_iter()
                .map(|(_, unit)| {
                    if is_cancelled() {
                        UnitFunctionRanges::default()
                    } else {
                        functions(file, unit, index)
                    }
                })
                .collect();
            for ((number, _), functions) in rangeless.iter().zip(ranges) {
                found.damage.extend(functions.damage);
                for (start, end) in functions.ranges {
                    found.paint(&mut open, index, start..end, *number);
                }
            }
        }
        let mut programs: HashMap<(u64, u8), u32> = HashMap::new();
        for (number, unit) in &rangeless {
            let Some(offset) = unit.root.line_program else { continue };
            if lines::has_rows(file.sections, offset) {
                programs.entry((offset, unit.encoding.address_size)).or_insert(*number);
            }
        }
        let mut programs: Vec<(u32, (u64, u8))> =
            programs.into_iter().map(|(program, unit)| (unit, program)).collect();
        programs.sort_unstable();
        let sequences: Vec<_> = programs
            .par_iter()
            .map(|&(_, (offset, size))| {
                if is_cancelled() {
                    Ok(Vec::new())
                } else {
                    lines::sequences(file, size, offset, index)
                }
            })
            .collect();
        for ((number, (offset, _)), sequences) in programs.into_iter().zip(sequences) {
            match sequences {
                Ok(sequences) => sequences
                    .into_iter()
                    .for_each(|(start, end)| found.paint(&mut open, index, start..end, number)),
                Err(why) => found.damage.push(no_lines(file, why, offset)),
            }
        }
        found
    }

    /// Assigns a unit to the addresses of a range that have none yet.
    fn paint(
        &mut self,
        open: &mut OpenSlots,
        index: &AddressIndex<'_>,
        range: Range<u64>,
        unit: u32,
    ) {
        let mut at = open.next(index.lower_bound(range.start));
        while let Some(slot) = self
            .units
            .get_mut(at)
            .filter(|_| index.all().get(at).is_some_and(|address| address.0 < range.end))
        {
            *slot = Some(unit);
            open.close(at);
            at = open.next(at + 1);
        }
    }
}

/// Returns true if a unit states no ranges, but its functions or rows may have addresses. Most units without ranges
/// have no code at all.
fn may_hold_code(file: &DwarfFile<'_>, unit: &Unit<'_>) -> bool {
    let root = &unit.root;
    let is_silent =
        unit.tag == gimli::DW_TAG_compile_unit && root.ranges.is_none() && root.high_pc.is_none();
    is_silent
        && (split_id(unit).is_some()
            || file.describes_code(unit)
            || root.line_program.is_some_and(|offset| lines::has_rows(file.sections, offset)))
}

/// The ranges of a unit's functions that contain requested addresses.
#[derive(Default)]
struct UnitFunctionRanges {
    ranges: Vec<(u64, u64)>,
    damage: Option<(SymbolFindingKind, u64)>,
    /// Memory accounting for the ranges.
    held: HeldMemory,
}

fn functions(
    file: &DwarfFile<'_>,
    unit: &Unit<'_>,
    index: &AddressIndex<'_>,
) -> UnitFunctionRanges {
    let mut found =
        UnitFunctionRanges { held: file.held.another(0), ..UnitFunctionRanges::default() };
    if split_id(unit).is_some() {
        return found;
    }
    let mut costs = file.costs.unit(unit, 0);
    let damage = function_ranges(file, unit, &mut costs, &mut |start, end| {
        if index.first_in(start, end).is_some() && found.ranges.last() != Some(&(start, end)) {
            found.ranges.push((start, end));
            if found.ranges.len() == found.ranges.capacity() {
                // The vector doubles at the next push.
                found.held.set((2 * size_of_val(found.ranges.as_slice())) as u64);
            }
        }
    });
    found.damage = damage.map(|at| (SymbolFindingKind::Entries, at as u64));
    if let Some(resource) = costs.exhausted {
        let limit = file.costs.limit(resource);
        found.damage = Some((SymbolFindingKind::OverBudget(resource), limit));
    } else if found.damage.is_none() {
        found.damage = costs.unread.map(|entry| (SymbolFindingKind::Reference, entry));
    }
    found
}
