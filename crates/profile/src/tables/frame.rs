//! Distinct frames: a location, and the evidence for the frame.

use std::hash::{Hash, Hasher};

use crate::encoding::encoding;
use crate::id::LocationId;
use crate::reason::FoundBy;

/// A distinct frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameRow {
    /// Its location.
    pub location: LocationId,
    /// Evidence for the frame.
    pub found_by: FoundBy,
    /// Whether the frame ran in kernel mode.
    pub kernel: bool,
    /// Index among several images of the same module in one process; nearly always 0.
    pub instance: u8,
}

encoding! { FrameRow { location: LocationId, found_by: FoundBy, kernel: bool, instance: u8, } }

impl Hash for FrameRow {
    /// Hashes the row as one word: a million frames are hashed for each new one.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let rest =
            u64::from(self.instance) << 16 | (self.found_by as u64) << 8 | u64::from(self.kernel);
        state.write_u64(u64::from(self.location.to_bits()) << 32 | rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_small() {
        assert_eq!(size_of::<FrameRow>(), 8);
    }
}
