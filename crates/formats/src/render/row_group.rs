//! Samples of one row group with their frames, concatenated, before they are encoded as a table.

use std::ops::Range;

use address::Avma;
use profile::query::{BiasCache, StackWalker, functions};
use profile::{
    FrameId, FrameRow, InlineId, InlineRow, LocationRow, Profile, RowId as _, SampleRow, Table,
    row_ids,
};

/// Approximate limit of frames per row group.
const GROUP_FRAMES: u64 = 1 << 19;

/// Maximum number of samples per row group.
const GROUP_SAMPLES: usize = 1 << 17;

row_ids! {
    /// Index of a row of [`FrameFunctions`].
    pub(crate) CellId(u32);
}

/// Functions of all frames. A frame of the profile becomes one output frame per function, or one if it has none.
#[derive(Debug)]
pub(crate) struct FrameFunctions {
    rows: Table<CellId, (FrameId, Option<InlineId>)>,
    /// End of each frame's rows; they start at the end of the previous frame's rows.
    ends: Table<FrameId, CellId>,
}

impl FrameFunctions {
    pub(crate) fn new(profile: &Profile, inlines: bool) -> Self {
        let mut all = Self { rows: Table::new(), ends: Table::new() };
        all.rows.reserve(profile.frames.len());
        all.ends.reserve(profile.frames.len());
        for (frame, row) in profile.frames.entries() {
            if let Some(location) = profile.locations.get(row.location) {
                let n = functions(profile, location, inlines).len();
                // The shown functions are the last rows of the location.
                let end = location.inlines().end;
                let shown = end.saturating_sub(n)..end;
                all.rows.extend(shown.map(|at| (frame, Some(InlineId::from_index(at)))));
                if n == 0 {
                    all.rows.push((frame, None));
                }
            }
            all.ends.push(all.rows.next_id());
        }
        all
    }

    /// Returns the rows of a frame.
    pub(crate) fn of_frame(&self, frame: FrameId) -> impl Iterator<Item = CellId> + use<> {
        let end = |at: usize| self.ends.as_slice().get(at).map_or(0, |end| end.index());
        let start = frame.index().checked_sub(1).map_or(0, end);
        (start..end(frame.index())).map(CellId::from_index)
    }
}

/// A frame with the rows it refers to, and one of its functions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FunctionCell<'a> {
    pub(crate) frame: &'a FrameRow,
    pub(crate) location: &'a LocationRow,
    pub(crate) function: Option<&'a InlineRow>,
}

impl FrameFunctions {
    /// Returns the tables' rows for a row; `None` if the profile is inconsistent and lacks one.
    #[inline]
    pub(crate) fn cell<'a>(&self, profile: &'a Profile, cell: CellId) -> Option<FunctionCell<'a>> {
        let &(frame, function) = self.rows.get(cell)?;
        let frame = profile.frames.get(frame)?;
        Some(FunctionCell {
            frame,
            location: profile.locations.get(frame.location)?,
            function: function.and_then(|id| profile.inlines.get(id)),
        })
    }
}

/// The samples of a row group.
#[derive(Debug)]
pub(crate) struct RowGroup<'a> {
    pub(crate) samples: &'a [SampleRow],
    functions: &'a FrameFunctions,
    /// The frames of all samples, with their addresses in the process.
    frames: Vec<(CellId, Avma)>,
    /// By sample: end of its frames.
    ends: Vec<usize>,
}

/// A frame of a sample, with the rows it refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameCell<'a> {
    pub(crate) addr: Avma,
    pub(crate) frame: &'a FrameRow,
    pub(crate) location: &'a LocationRow,
    pub(crate) function: Option<&'a InlineRow>,
}

impl<'a> RowGroup<'a> {
    pub(crate) fn new(
        samples: &'a [SampleRow],
        walker: &StackWalker<'a>,
        functions: &'a FrameFunctions,
    ) -> Self {
        let ends = Vec::with_capacity(samples.len());
        let mut group = Self { samples, functions, frames: Vec::new(), ends };
        let mut biases = BiasCache::new();
        for sample in samples {
            walker.walk(sample, &mut biases, |frame, addr| {
                group.frames.extend(functions.of_frame(frame).map(|cell| (cell, addr)));
            });
            group.ends.push(group.frames.len());
        }
        group
    }

    /// Iterates over the frames of each sample, innermost first.
    pub(crate) fn stacks(&self) -> impl Iterator<Item = &[(CellId, Avma)]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| self.frames.get(start..end).unwrap_or_default())
    }

    /// Returns the rows of a frame; `None` if the profile is inconsistent and lacks one.
    #[inline]
    pub(crate) fn cell(
        &self,
        profile: &'a Profile,
        cell: CellId,
        addr: Avma,
    ) -> Option<FrameCell<'a>> {
        let FunctionCell { frame, location, function } = self.functions.cell(profile, cell)?;
        Some(FrameCell { addr, frame, location, function })
    }
}

/// Splits samples into ranges for row groups; `frames` returns the number of frames of a sample.
pub(crate) fn ranges(
    samples: usize,
    frames: impl Fn(usize) -> u64,
) -> impl Iterator<Item = Range<usize>> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let start = next;
        let mut sum = 0;
        while next < samples && next - start < GROUP_SAMPLES && sum < GROUP_FRAMES {
            sum += frames(next);
            next += 1;
        }
        (start < next).then_some(start..next)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_end_by_samples_and_by_frames() {
        let ends = |samples, frames| {
            let mut at = 0;
            let begin_there =
                |range: &Range<usize>| std::mem::replace(&mut at, range.end) == range.start;
            let ranges: Vec<_> = ranges(samples, |_| frames).collect();
            assert!(ranges.iter().all(begin_there));
            ranges.into_iter().map(|range| range.end).collect::<Vec<_>>()
        };
        assert_eq!(ends(0, 1), Vec::<usize>::new());
        assert_eq!(ends(5, 0), [5]);
        assert_eq!(ends(300_000, 1), [131_072, 262_144, 300_000]);
        assert_eq!(ends(5, GROUP_FRAMES / 2), [2, 4, 5]);
        assert_eq!(ends(2, u64::from(u32::MAX)), [1, 2]);
    }
}
