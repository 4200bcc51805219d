//! Keys of distinct frames before their locations have ids.

use std::hash::{Hash, Hasher};

use address::ModuleId;
use profile::{FoundBy, FrameRow, LocationId, LocationRow};
use unwinder::{CodeLocation, Frame};

use crate::tails::CodeFrame;

/// A frame before it has ids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedFrame {
    pub(crate) location: CodeLocation,
    pub(crate) found_by: FoundBy,
    pub(crate) kernel: bool,
    /// True for an unknown location in the function that begins at `location`.
    pub(crate) whole: bool,
}

impl PlacedFrame {
    /// Placeholder for unknown frames.
    pub(crate) const GAP: Self = Self::nowhere(FoundBy::Gap);

    /// Placeholder for unknown frames, of the given kind.
    pub(crate) const fn nowhere(found_by: FoundBy) -> Self {
        Self { location: CodeLocation::NOWHERE, found_by, kernel: false, whole: false }
    }
}

impl From<&Frame> for PlacedFrame {
    fn from(frame: &Frame) -> Self {
        Self {
            location: frame.location(),
            found_by: frame.found_by,
            kernel: frame.kernel,
            whole: false,
        }
    }
}

/// A distinct frame before its location has an id, without the bias of its module.
/// Two machine words, because a million of them are hashed and compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FrameKey {
    relative: u64,
    /// Module plus 1 (0 for none), then one byte each for instance,
    /// found-by and flags: bit 0 kernel mode, bit 1 whole function.
    rest: u64,
}

/// Shift of the module in [`FrameKey::rest`].
const MODULE: u32 = 24;
/// Flags in the lowest byte.
const KERNEL: u64 = 1;
const WHOLE: u64 = 2;

impl FrameKey {
    pub(crate) fn new(frame: &PlacedFrame, instance: u8) -> Self {
        let PlacedFrame { location, found_by, kernel, whole } = *frame;
        let module = location.module.map_or(0, |module| u64::from(module.0) + 1);
        let rest = (module << MODULE)
            | (u64::from(instance) << 16)
            | ((found_by as u64) << 8)
            | (u64::from(kernel) * KERNEL)
            | (u64::from(whole) * WHOLE);
        Self { relative: location.relative, rest }
    }

    /// Returns the frame, for a module with that bias.
    pub(crate) fn placed(self, bias: u64) -> PlacedFrame {
        let found_by = FoundBy::ALL.get(usize::from((self.rest >> 8) as u8)).copied();
        PlacedFrame {
            location: CodeLocation { module: self.module(), relative: self.relative, bias },
            found_by: found_by.unwrap_or(FoundBy::Sampled),
            kernel: self.rest & KERNEL != 0,
            whole: self.rest & WHOLE != 0,
        }
    }

    /// Index among the images of the module in the process.
    pub(crate) const fn instance(self) -> u8 {
        (self.rest >> 16) as u8
    }

    /// Module of the frame.
    pub(crate) fn module(self) -> Option<ModuleId> {
        (self.rest >> MODULE).checked_sub(1).map(|module| ModuleId(module as u32))
    }

    /// The fields that tail calls depend on.
    pub(crate) fn code_frame(self) -> CodeFrame {
        let PlacedFrame { location, found_by, kernel, .. } = self.placed(0);
        CodeFrame { module: location.module, relative: location.relative, found_by, kernel }
    }

    /// Returns true if both are in the same module.
    #[inline]
    pub(crate) const fn is_in_module_of(self, other: Self) -> bool {
        (self.rest ^ other.rest) >> MODULE == 0
    }

    /// Returns true if the address in the module is in `start..end`.
    #[inline]
    pub(crate) const fn is_between(self, start: u64, end: u64) -> bool {
        start <= self.relative && self.relative < end
    }

    /// Returns the same key for all frames at one location.
    /// Gaps and whole functions have their own locations, even if another frame has the same address.
    pub(crate) fn of_location(self) -> Self {
        let PlacedFrame { found_by, .. } = self.placed(0);
        let apart = if found_by.is_gap() { (found_by as u64) << 8 } else { 0 };
        Self { rest: self.rest >> MODULE << MODULE | apart | self.rest & WHOLE, ..self }
    }

    /// The location, without names.
    pub(crate) fn location(self) -> LocationRow {
        let row = LocationRow::unnamed(self.module(), self.relative);
        LocationRow { is_whole: self.rest & WHOLE != 0, ..row }
    }

    /// The row of the frame at that location.
    pub(crate) fn frame(self, location: LocationId) -> FrameRow {
        let PlacedFrame { found_by, kernel, .. } = self.placed(0);
        FrameRow { location, found_by, kernel, instance: self.instance() }
    }
}

impl Hash for FrameKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // One multiplication less than hashing both words: module ids are small.
        state.write_u64(self.relative ^ self.rest.rotate_left(31));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(module: Option<u32>, relative: u64, found_by: FoundBy, kernel: bool) -> FrameKey {
        let location = CodeLocation { module: module.map(ModuleId), relative, bias: 0 };
        FrameKey::new(&PlacedFrame { location, found_by, kernel, whole: false }, 3)
    }

    #[test]
    fn frames_at_an_address_share_its_location() {
        let location = key(Some(7), 0x10, FoundBy::Sampled, false).of_location();
        for found_by in [FoundBy::Cfi, FoundBy::FramePointer, FoundBy::Joined] {
            assert_eq!(key(Some(7), 0x10, found_by, true).of_location(), location);
        }
        assert_ne!(key(Some(8), 0x10, FoundBy::Cfi, false).of_location(), location);
        assert_eq!(location.location(), LocationRow::unnamed(Some(ModuleId(7)), 0x10));
    }

    #[test]
    fn a_gap_is_no_address() {
        let nowhere = key(None, 0, FoundBy::Cfi, false).of_location();
        let gap = key(None, 0, FoundBy::Gap, false).of_location();
        assert_ne!(gap, nowhere);
        assert_eq!(gap.location(), nowhere.location());
    }

    #[test]
    fn a_whole_function_has_a_location_of_its_own() {
        let at = key(Some(7), 0x10, FoundBy::TailCall, false);
        let whole = FrameKey::new(&PlacedFrame { whole: true, ..at.placed(0) }, 3);
        assert_ne!(whole.of_location(), at.of_location());
        assert!(whole.location().is_whole && whole.placed(0).whole);
        assert!(!at.location().is_whole && !at.placed(0).whole);
    }
}
