//! The names of frames that stand for unknown functions: `[gap]` and `[tail calls]`.
//!
//! The replay gives each kind its own location, so the name applies to no other frame.

use profile::{FoundBy, FrameId, FrameRow, InlineId, InlineRow, LocationId, LocationRow};
use profile::{Strings, Table};

/// The kinds of these frames, with their names.
const NAMES: [(FoundBy, &[u8]); 2] =
    [(FoundBy::Gap, b"[gap]"), (FoundBy::TailCalls, b"[tail calls]")];

/// Indexes of the locations of these frames, by kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct GapLocations([Option<usize>; NAMES.len()]);

/// The functions of these frames, each with the index of its location.
pub(crate) type GapFunctions = Vec<(usize, InlineRow)>;

impl GapLocations {
    /// Finds the locations of each kind, as indexes from `first`. A kind has none if no chain has it, or if its
    /// location is before `first`.
    pub(crate) fn find(frames: &Table<FrameId, FrameRow>, first: LocationId) -> Self {
        let mut found = [None; NAMES.len()];
        for frame in frames.iter().filter(|frame| frame.found_by.is_gap()) {
            let kind = NAMES.iter().position(|&(word, _)| word == frame.found_by);
            if let Some(slot) = kind.and_then(|kind| found.get_mut(kind)) {
                *slot = frame.location.index().checked_sub(first.index());
            }
        }
        Self(found)
    }

    /// Returns the function of each kind that has a location.
    pub(crate) fn functions(self, strings: &mut Strings) -> GapFunctions {
        let named = self.0.iter().zip(NAMES);
        let function = |(at, (_, name)): (&Option<usize>, (FoundBy, &[u8]))| {
            at.map(|at| (at, InlineRow::with_name(strings.intern(name))))
        };
        named.filter_map(function).collect()
    }

    /// Names only these frames among the locations.
    pub(crate) fn name(
        self,
        locations: &mut [LocationRow],
        strings: &mut Strings,
        inlines: &mut Table<InlineId, InlineRow>,
    ) {
        for (at, function) in self.functions(strings) {
            if let Some(location) = locations.get_mut(at) {
                location.first_inline = inlines.push(function);
                location.n_inlines = 1;
            }
        }
    }
}

#[cfg(test)]
impl GapLocations {
    /// A gap at an index of the locations.
    pub(super) const fn gap_at(at: usize) -> Self {
        Self([Some(at), None])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_found_once() {
        let frame = |location, found_by| FrameRow {
            location: LocationId::new(location),
            found_by,
            kernel: false,
            instance: 0,
        };
        let words =
            [FoundBy::Cfi, FoundBy::TailCalls, FoundBy::Gap, FoundBy::Cfi, FoundBy::TailCall];
        let frames: Table<FrameId, FrameRow> =
            (0_u32..).zip(words).map(|(location, word)| frame(location, word)).collect();
        let found = |first| GapLocations::find(&frames, LocationId::new(first)).0;
        assert_eq!(found(0), [Some(2), Some(1)]);
        assert_eq!(found(2), [Some(0), None], "the other one was named before");
        assert_eq!(found(3), [None, None], "named before");
        let joined = Table::from_vec(vec![frame(0, FoundBy::Joined)]);
        assert_eq!(GapLocations::find(&joined, LocationId::new(0)), GapLocations::default());
    }
}
