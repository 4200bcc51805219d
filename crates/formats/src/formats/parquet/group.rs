//! A row group before it is encoded: samples, and their frames one after the other.

use address::Avma;
use profile::query::{BiasCache, StackWalker, functions};
use profile::{
    FrameId, FrameRow, InlineId, InlineRow, LocationRow, Profile, RowId as _, SampleRow, Table,
    row_ids,
};

row_ids! {
    /// A row of [`FrameFunctions`].
    pub(super) CellId(u32);
}

/// The functions of all frames: each frame of the profile is as many of the output as it has functions, or one.
#[derive(Debug)]
pub(super) struct FrameFunctions {
    rows: Table<CellId, (FrameId, Option<InlineId>)>,
    /// Where the rows of each frame end; they begin where those of the frame before end.
    ends: Table<FrameId, CellId>,
}

impl FrameFunctions {
    pub(super) fn new(profile: &Profile, inlines: bool) -> Self {
        let mut all = Self { rows: Table::new(), ends: Table::new() };
        all.rows.reserve(profile.frames.len());
        all.ends.reserve(profile.frames.len());
        for (frame, row) in profile.frames.entries() {
            if let Some(location) = profile.locations.get(row.location) {
                let n = functions(profile, location, inlines).len();
                // Those that are shown are the last ones.
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

    fn of_frame(&self, frame: FrameId) -> impl Iterator<Item = CellId> + use<> {
        let end = |at: usize| self.ends.as_slice().get(at).map_or(0, |end| end.index());
        let start = frame.index().checked_sub(1).map_or(0, end);
        (start..end(frame.index())).map(CellId::from_index)
    }
}

/// The samples of a row group.
#[derive(Debug)]
pub(super) struct RowGroup<'a> {
    pub(super) samples: &'a [SampleRow],
    functions: &'a FrameFunctions,
    /// The frames of all samples, with their addresses in the process.
    frames: Vec<(CellId, Avma)>,
    /// By sample: where its frames end.
    ends: Vec<usize>,
}

/// A frame of a sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameCell<'a> {
    pub(super) addr: Avma,
    pub(super) frame: &'a FrameRow,
    pub(super) location: &'a LocationRow,
    pub(super) function: Option<&'a InlineRow>,
}

impl<'a> RowGroup<'a> {
    pub(super) fn new(
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

    /// The frames of each sample, innermost first.
    pub(super) fn stacks(&self) -> impl Iterator<Item = &[(CellId, Avma)]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| self.frames.get(start..end).unwrap_or_default())
    }

    /// What a frame is made of; `None` for one that a broken profile does not have.
    #[inline]
    pub(super) fn cell(
        &self,
        profile: &'a Profile,
        (cell, addr): (CellId, Avma),
    ) -> Option<FrameCell<'a>> {
        let &(frame, function) = self.functions.rows.get(cell)?;
        let frame = profile.frames.get(frame)?;
        Some(FrameCell {
            addr,
            frame,
            location: profile.locations.get(frame.location)?,
            function: function.and_then(|id| profile.inlines.get(id)),
        })
    }
}
