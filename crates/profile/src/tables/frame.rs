//! Distinct frames: a location, and how the unwinder came to it.

use std::hash::{Hash, Hasher};

use crate::id::LocationId;
use crate::reason::FoundBy;

/// A distinct frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameRow {
    /// Where it is.
    pub location: LocationId,
    /// How it was found.
    pub found_by: FoundBy,
    /// Whether it ran in kernel mode.
    pub kernel: bool,
    /// Which of several images of the same module in one process; nearly always 0.
    pub instance: u8,
}

impl Hash for FrameRow {
    /// One word: a million frames are hashed for each that is new.
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
