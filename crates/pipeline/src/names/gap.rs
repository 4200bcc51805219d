//! The name of the frame that stands for frames that no sample shows.
//!
//! The replay gives it a location of its own, so its name stands at no other frame.

use profile::{FoundBy, FrameId, FrameRow, InlineRow, LocationId, Strings, Table};

const GAP: &[u8] = b"[gap]";

/// Where the gap's location is, counted from `first` on; `None` where no chain has a gap, or the location is an earlier
/// one.
pub(crate) fn gap_location(frames: &Table<FrameId, FrameRow>, first: LocationId) -> Option<usize> {
    let gap = frames.iter().find(|frame| frame.found_by == FoundBy::Gap)?;
    gap.location.index().checked_sub(first.index())
}

/// The one function of a gap.
pub(crate) fn gap_function(strings: &mut Strings) -> InlineRow {
    InlineRow::named(strings.intern(GAP))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_is_found_once() {
        let frame = |location, found_by| FrameRow {
            location: LocationId::new(location),
            found_by,
            kernel: false,
            instance: 0,
        };
        let words = [FoundBy::Cfi, FoundBy::Joined, FoundBy::Gap, FoundBy::Cfi];
        let frames: Table<FrameId, FrameRow> =
            (0_u32..).zip(words).map(|(location, word)| frame(location, word)).collect();
        assert_eq!(gap_location(&frames, LocationId::new(0)), Some(2));
        assert_eq!(gap_location(&frames, LocationId::new(2)), Some(0));
        assert_eq!(gap_location(&frames, LocationId::new(3)), None, "named before");
        assert_eq!(
            gap_location(&Table::from_vec(vec![frame(0, FoundBy::Joined)]), LocationId::new(0)),
            None
        );
    }
}
