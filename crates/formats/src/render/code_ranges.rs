//! The parts of modules in which stated addresses and file offsets differ by one and the same number, which is what a
//! loaded segment is: the mappings of formats whose addresses are those that the files state.

use address::ModuleId;
use hashbrown::HashMap;
use profile::{LocationId, Profile, Table, row_ids};

/// Ranges begin and end at multiples of this.
const PAGE: u64 = 4096;

row_ids! {
    /// A row of [`CodeRanges::rows`].
    pub(crate) CodeRangeId(u32);
}

/// A part of a module.
#[derive(Debug)]
pub(crate) struct CodeRange {
    pub(crate) module: ModuleId,
    /// Lowest and highest address of a location in it.
    low: u64,
    high: u64,
    /// What is added to an address for the file offset (wrapping); `None` where the module has no offsets.
    delta: Option<u64>,
}

impl CodeRange {
    /// Where the page of the lowest location begins.
    pub(crate) const fn start(&self) -> u64 {
        self.low - self.low % PAGE
    }

    /// Where the page of the highest location ends.
    pub(crate) const fn end(&self) -> u64 {
        (self.high - self.high % PAGE).saturating_add(PAGE)
    }

    /// The place of [`Self::start`] in the file; 0 where the module has no offsets.
    pub(crate) fn file_offset(&self) -> u64 {
        self.delta.map_or(0, |delta| self.start().wrapping_add(delta))
    }
}

/// The ranges of a profile, and in which of them each location is.
#[derive(Debug)]
pub(crate) struct CodeRanges {
    pub(crate) rows: Table<CodeRangeId, CodeRange>,
    /// `None` for a location in no module.
    pub(crate) of_location: Table<LocationId, Option<CodeRangeId>>,
}

impl CodeRanges {
    pub(crate) fn new(profile: &Profile) -> Self {
        let mut index: HashMap<(ModuleId, Option<u64>), CodeRangeId> = HashMap::new();
        let mut rows: Table<CodeRangeId, CodeRange> = Table::new();
        let mut of_location = Table::new();
        of_location.reserve(profile.locations.len());
        for location in &profile.locations {
            let Some(module) = location.module else {
                of_location.push(None);
                continue;
            };
            let address = location.relative;
            let delta = location.offset.map(|offset| offset.wrapping_sub(address));
            let id = *index.entry((module, delta)).or_insert_with(|| {
                rows.push(CodeRange { module, low: address, high: address, delta })
            });
            of_location.push(Some(id));
            if let Some(range) = rows.get_mut(id) {
                range.low = range.low.min(address);
                range.high = range.high.max(address);
            }
        }
        Self { rows, of_location }
    }
}
