//! What a file's debug information may cost. Each unit and each table has a part of its own, in proportion to its size,
//! so that the result does not depend on which thread comes first.

use budget::{Allowance, Budget, Resource};

use crate::dwarf::file::DwarfSections;
use crate::dwarf::unit::Unit;

/// Addresses of a unit's functions that may be marked, for each of its addresses: inlined calls nest.
const NESTING: u64 = 64;
/// Frames that may be made for each address of a unit, beyond those that its size allows.
const FRAMES: u64 = 16;
/// Bytes and attributes that may be read for names, for each entry that may be visited.
const NAME_READS: u64 = 32;

/// What one file may cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileCosts {
    budget: Budget,
    info: u64,
    abbrev: u64,
    ranges: u64,
    line: u64,
    strings: u64,
}

/// What is left for the entries of one unit.
#[derive(Debug)]
pub(crate) struct UnitCosts {
    /// Ranges that are read, and addresses that are found in them.
    pub(crate) ranges: Allowance,
    /// Bytes and attributes that are read for names.
    pub(crate) names: Allowance,
    /// Frames that are made.
    pub(crate) frames: Allowance,
    /// What ran out first.
    pub(crate) exhausted: Option<Resource>,
    /// The first entry with a reference that cannot be read.
    pub(crate) unread: Option<u64>,
}

impl UnitCosts {
    /// Whether so much can still be had of an allowance; notes where not.
    #[inline]
    pub(crate) fn spend(
        left: &mut Allowance,
        amount: u64,
        exhausted: &mut Option<Resource>,
    ) -> bool {
        match left.take(amount) {
            Ok(()) => true,
            Err(error) => {
                exhausted.get_or_insert(error.resource);
                false
            }
        }
    }
}

impl UnitCosts {
    /// Notes an entry with a reference that cannot be read. An exhausted budget is another matter.
    pub(crate) fn note_unread(&mut self, entry: usize) {
        if self.exhausted.is_none() {
            self.unread.get_or_insert(entry as u64);
        }
    }
}

impl FileCosts {
    pub(crate) fn new(budget: &Budget, sections: &DwarfSections<'_>) -> Self {
        let info = sections.info.len() as u64;
        Self {
            budget: *budget,
            info,
            abbrev: sections.abbrev.len() as u64,
            ranges: info + sections.ranges.len() as u64 + sections.rnglists.len() as u64,
            line: sections.line.len() as u64,
            strings: info
                + sections.str.len() as u64
                + sections.line.len() as u64
                + sections.line_str.len() as u64,
        }
    }

    /// The size of what a resource is used for.
    const fn size(&self, resource: Resource) -> u64 {
        match resource {
            Resource::Abbreviations => self.abbrev,
            Resource::AddressRanges => self.ranges,
            Resource::LineRows => self.line,
            Resource::NameBytes => self.strings,
            _ => self.info,
        }
    }

    /// How much of a resource the whole file may use.
    pub(crate) fn limit(&self, resource: Resource) -> u64 {
        self.budget.limit(resource).of(self.size(resource))
    }

    /// That as an allowance, for one thread.
    pub(crate) fn whole(&self, resource: Resource) -> Allowance {
        Allowance::new(resource, self.limit(resource))
    }

    /// The same where further bytes count, of other files.
    pub(crate) fn whole_with(&self, resource: Resource, further: u64) -> Allowance {
        self.budget.allowance(resource, self.size(resource).saturating_add(further))
    }

    /// How many bytes of tables that overlap each of so many may take beyond where the next one begins.
    pub(crate) fn overlap(&self, resource: Resource, tables: usize) -> u64 {
        let rest = self.limit(resource).saturating_sub(self.size(resource));
        rest / (tables as u64).max(1)
    }

    /// The part of a unit, which is asked for so many addresses.
    pub(crate) fn unit(&self, unit: &Unit<'_>, addresses: usize) -> UnitCosts {
        let bytes = (unit.end - unit.offset) as u64;
        let part = |resource| {
            let share = u128::from(self.limit(resource)) * u128::from(bytes);
            u64::try_from(share / u128::from(self.info.max(1))).unwrap_or(u64::MAX)
        };
        let (entries, ranges) = (part(Resource::DebugEntries), part(Resource::AddressRanges));
        let addresses = addresses as u64;
        let of = |resource, parts: u64, part: u64, each: u64| {
            Allowance::new(resource, part.saturating_mul(parts).saturating_add(each * addresses))
        };
        UnitCosts {
            ranges: of(Resource::AddressRanges, 8, ranges, NESTING),
            names: of(Resource::DebugEntries, NAME_READS, entries, 0),
            frames: of(Resource::DebugEntries, 1, entries / 4, FRAMES),
            exhausted: None,
            unread: None,
        }
    }
}
