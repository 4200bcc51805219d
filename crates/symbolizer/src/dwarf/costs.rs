//! Limits on the cost of a file's debug information. Each unit and table has its own share, in proportion to its size,
//! so that the result does not depend on the order of threads.

use budget::{Allowance, Budget, Resource};

use crate::dwarf::file::DwarfSections;
use crate::dwarf::unit::Unit;

/// Marks of function addresses allowed for each address of a unit, since inlined calls nest.
const NESTING: u64 = 64;
/// Frames allowed for each address of a unit, beyond those that its size allows.
const FRAMES: u64 = 16;
/// Bytes and attributes that may be read for names, for each entry that may be visited.
const NAME_READS: u64 = 32;

/// Limits for one file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileCosts {
    budget: Budget,
    info: u64,
    abbrev: u64,
    ranges: u64,
    line: u64,
    strings: u64,
}

/// The remaining budget for the entries of one unit.
#[derive(Debug)]
pub(crate) struct UnitCosts {
    /// Ranges that are read, and addresses that are found in them.
    pub(crate) ranges: Allowance,
    /// Bytes and attributes that are read for names.
    pub(crate) names: Allowance,
    /// Frames that are made.
    pub(crate) frames: Allowance,
    /// The first resource that was exhausted.
    pub(crate) exhausted: Option<Resource>,
    /// Offset of the first entry with an unreadable reference.
    pub(crate) unread: Option<u64>,
}

impl UnitCosts {
    /// Takes an amount from an allowance. Returns false and records the resource if it is exhausted.
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
    /// Records an entry with an unreadable reference, unless the budget is exhausted.
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

    /// Returns the size of the data that a resource is used for.
    const fn size(&self, resource: Resource) -> u64 {
        match resource {
            Resource::Abbreviations => self.abbrev,
            Resource::AddressRanges => self.ranges,
            Resource::LineRows => self.line,
            Resource::NameBytes => self.strings,
            _ => self.info,
        }
    }

    /// Returns the limit of a resource for the whole file.
    pub(crate) fn limit(&self, resource: Resource) -> u64 {
        self.budget.limit(resource).of(self.size(resource))
    }

    /// Returns that limit as an allowance for one thread.
    pub(crate) fn whole(&self, resource: Resource) -> Allowance {
        Allowance::new(resource, self.limit(resource))
    }

    /// Like [`Self::whole`], with `further` bytes of other files.
    pub(crate) fn whole_with(&self, resource: Resource, further: u64) -> Allowance {
        self.budget.allowance(resource, self.size(resource).saturating_add(further))
    }

    /// Returns the bytes that each of `tables` tables may overlap the next one.
    pub(crate) fn overlap(&self, resource: Resource, tables: usize) -> u64 {
        let rest = self.limit(resource).saturating_sub(self.size(resource));
        rest / (tables as u64).max(1)
    }

    /// Returns the share of a unit with this number of requested addresses.
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
