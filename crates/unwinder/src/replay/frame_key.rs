//! What tells distinct frames apart before their locations have ids.

use std::hash::{Hash, Hasher};

use address::ModuleId;
use profile::{FoundBy, FrameRow, LocationId, LocationRow};

use crate::frame::Frame;

/// A distinct frame before its location has an id, apart from where its module lay. Two words, since a million of them
/// are hashed and compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FrameKey {
    relative: u64,
    /// The module plus one (0 for none), then a byte each of instance, found-by and kernel mode.
    rest: u64,
}

/// Where the module is in [`FrameKey::rest`].
const MODULE: u32 = 24;

impl FrameKey {
    pub(crate) fn new(frame: &Frame, instance: u8) -> Self {
        let module = frame.module.map_or(0, |module| u64::from(module.0) + 1);
        let rest = module << MODULE
            | u64::from(instance) << 16
            | (frame.found_by as u64) << 8
            | u64::from(frame.kernel);
        Self { relative: frame.relative, rest }
    }

    /// The same for all frames at its location.
    pub(super) const fn of_location(self) -> Self {
        Self { rest: self.rest >> MODULE << MODULE, ..self }
    }

    /// Its location, without names.
    pub(super) fn location(self) -> LocationRow {
        let module = (self.rest >> MODULE).checked_sub(1).map(|module| ModuleId(module as u32));
        LocationRow::unnamed(module, self.relative)
    }

    /// Its row, at that location.
    pub(super) fn frame(self, location: LocationId) -> FrameRow {
        let found_by = FoundBy::ALL.get(usize::from((self.rest >> 8) as u8)).copied();
        FrameRow {
            location,
            found_by: found_by.unwrap_or(FoundBy::Sampled),
            kernel: self.rest & 1 != 0,
            instance: (self.rest >> 16) as u8,
        }
    }
}

impl Hash for FrameKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // One multiplication less than hashing both: the modules' ids are small.
        state.write_u64(self.relative ^ self.rest.rotate_left(31));
    }
}
