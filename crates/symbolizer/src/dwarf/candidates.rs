//! Candidate units for the requested addresses, by the ranges that the units state.

use budget::{HeldMemory, Resource};
use hashbrown::HashMap;

use crate::addresses::{AddressIndex, Cover, sweep};
use crate::dwarf::file::DwarfFile;
use crate::dwarf::form::{Encoding, FormValue};
use crate::dwarf::ranges::{Pcs, each_range};
use crate::dwarf::unit::Unit;

/// Limit on the units that are tried for an address that is in the ranges of several.
pub(crate) const CANDIDATES: usize = 3;

/// Number of covers at which those that cannot be chosen are dropped.
const MANY: usize = 1 << 20;

/// For each address the units with ranges that contain it, nearest start first.
#[derive(Default)]
pub(crate) struct Candidates {
    pub(crate) units: Vec<[Option<u32>; CANDIDATES]>,
    /// The resource that was exhausted before all ranges were read.
    pub(crate) exhausted: Option<Resource>,
    /// Offsets of the units with unreadable ranges.
    pub(crate) damage: Vec<u64>,
}

impl Candidates {
    pub(crate) fn of(file: &DwarfFile<'_>, index: &AddressIndex<'_>) -> Self {
        let mut covers =
            Covers { index, covers: Vec::new(), limit: MANY, held: file.held.another(0) };
        let mut ranges = file.costs.whole(Resource::AddressRanges);
        let (mut exhausted, mut damage) = (None, Vec::new());
        let mut users: HashMap<ListKey<'_>, usize> = HashMap::new();
        // Among units with the same list the last ones are chosen, so the list is only read for them.
        for (number, unit) in file.units.iter().enumerate().rev() {
            if let Some(list) = unit.root.ranges {
                let users = users.entry(list_key(unit, list)).or_default();
                *users += 1;
                if *users > CANDIDATES {
                    continue;
                }
            }
            let root = &unit.root;
            let pcs = Pcs { low: root.low_pc, high: root.high_pc, ranges: root.ranges };
            // A damaged list yields the ranges before the damage.
            let read = each_range(file, unit, &pcs, |start, end| {
                covers.add(Cover { start, end, item: number as u32 });
                let enough = ranges.take(1);
                exhausted = exhausted.or(enough.err().map(|error| error.resource));
                enough.is_ok()
            });
            if read.is_none() {
                damage.push(unit.offset as u64);
            }
            if exhausted.is_some() {
                break;
            }
        }
        let mut units = vec![[None; CANDIDATES]; index.all().len()];
        sweep::<CANDIDATES>(index.all(), &covers.sorted(), |address, found| {
            if let Some(slot) = units.get_mut(address) {
                *slot = found;
            }
        });
        Self { units, exhausted, damage }
    }
}

/// All values that determine the ranges of a list.
type ListKey<'a> = (FormValue<'a>, Option<FormValue<'a>>, [Option<u64>; 2], Encoding);

fn list_key<'a>(unit: &Unit<'a>, list: FormValue<'a>) -> ListKey<'a> {
    let root = &unit.root;
    (list, root.low_pc, [root.rnglists_base, root.addr_base], unit.encoding)
}

/// Ranges of units that contain requested addresses.
struct Covers<'c> {
    index: &'c AddressIndex<'c>,
    covers: Vec<Cover>,
    limit: usize,
    held: HeldMemory,
}

impl Covers<'_> {
    fn add(&mut self, cover: Cover) {
        if self.index.first_in(cover.start, cover.end).is_none() {
            return;
        }
        if self.covers.len() >= self.limit {
            self.thin_out();
            self.limit = (self.covers.len() * 2).max(MANY);
            self.held.set((self.limit * size_of::<Cover>()) as u64);
        }
        self.covers.push(cover);
    }

    /// Among covers that contain the same addresses, drops those that cannot be chosen: only the greatest starts are.
    fn thin_out(&mut self) {
        let index = self.index;
        let held = |cover: &Cover| (index.lower_bound(cover.start), index.lower_bound(cover.end));
        // The best first.
        self.covers.sort_by_cached_key(|cover| {
            let (first, end) = held(cover);
            (first, end, std::cmp::Reverse((cover.start, cover.item)))
        });
        let mut same = (usize::MAX, 0);
        let mut count = 0;
        self.covers.retain(|cover| {
            let holds = held(cover);
            count = if holds == same { count + 1 } else { 0 };
            same = holds;
            count < 4 * CANDIDATES
        });
    }

    /// Returns the covers sorted by start; among equal starts, later units are last.
    fn sorted(mut self) -> Vec<Cover> {
        self.covers.sort_by_key(|cover| (cover.start, cover.item));
        self.covers
    }
}
