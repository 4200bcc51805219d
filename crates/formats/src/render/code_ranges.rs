//! Parts of modules with a constant difference between stated address and file offset, as in a loaded segment.
//! They are the mappings of formats that use stated addresses.

use address::ModuleId;
use hashbrown::HashMap;
use profile::{LocationId, Profile, Table, row_ids};

/// Alignment of the start and end of a range, in bytes.
const PAGE: u64 = 4096;

row_ids! {
    /// Index of a row of [`CodeRanges::rows`].
    pub(crate) CodeRangeId(u32);
}

/// A part of a module.
#[derive(Debug)]
pub(crate) struct CodeRange {
    pub(crate) module: ModuleId,
    /// Lowest and highest address of a location in it.
    low: u64,
    high: u64,
    /// File offset minus address (wrapping); `None` if the module has no offsets.
    delta: Option<u64>,
}

impl CodeRange {
    /// Start of the page that contains the lowest location.
    pub(crate) const fn start(&self) -> u64 {
        self.low - self.low % PAGE
    }

    /// End of the page that contains the highest location.
    pub(crate) const fn end(&self) -> u64 {
        (self.high - self.high % PAGE).saturating_add(PAGE)
    }

    /// File offset of [`Self::start`]; 0 if the module has no offsets.
    pub(crate) fn file_offset(&self) -> u64 {
        self.delta.map_or(0, |delta| self.start().wrapping_add(delta))
    }
}

/// The ranges of a profile, and the range of each location.
#[derive(Debug)]
pub(crate) struct CodeRanges {
    pub(crate) rows: Table<CodeRangeId, CodeRange>,
    /// `None` for a location outside all modules.
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
