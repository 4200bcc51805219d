//! Puts the frames that repair found into a walked slice: the sample gets another stack.

use profile::{EndReason, FoundBy, LayoutId};

use crate::repair::Repaired;
use crate::replay::frame_key::PlacedFrame;
use crate::replay::lane::Position;
use crate::replay::needs::note_repaired;
use crate::replay::slice::{SliceScratch, WalkedSlice};

/// What is kept from one sample to the next.
#[derive(Default)]
pub(crate) struct Lengthening {
    /// The number of the slice that the scratch belongs to.
    slice: Option<usize>,
    scratch: SliceScratch,
    frames: Vec<PlacedFrame>,
}

impl Lengthening {
    /// Continues the chain of a sample of a slice, up to so many user frames.
    pub(crate) fn lengthen(
        &mut self,
        slice: &mut WalkedSlice,
        position: Position,
        repaired: &Repaired,
        max_frames: usize,
    ) -> Option<()> {
        let Position { slice: number, index, .. } = position;
        let row = *slice.samples.get(index).filter(|_| !repaired.frames.is_empty())?;
        let max_frames = slice.seen.n_kernel(index).saturating_add(max_frames);
        let layout = row.layout.as_u32();
        let process_image = slice.layouts.process_image(layout)?;
        let Self { slice: current, scratch, frames } = self;
        if *current != Some(number) {
            (*current, *scratch) = (Some(number), SliceScratch::default());
        }
        frames.clear();
        let nodes = std::iter::successors(row.stack, |&at| slice.caller(at));
        frames.extend(nodes.filter_map(|at| Some(slice.placed(slice.frame_at(at)?, layout))));
        let n_own = frames.len();
        let joined = |&place| PlacedFrame { place, found_by: FoundBy::Joined, kernel: false };
        let (sure, behind) =
            repaired.frames.split_at(repaired.gap.unwrap_or(repaired.frames.len()));
        frames.extend(sure.iter().map(joined));
        frames.extend(repaired.gap.map(|_| PlacedFrame::GAP));
        frames.extend(behind.iter().map(joined));
        let is_whole = frames.len() <= max_frames;
        frames.truncate(max_frames.max(n_own));
        // A gap with nothing behind it says nothing.
        if frames.last().is_some_and(|frame| frame.found_by == FoundBy::Gap) {
            frames.pop();
        }
        slice.n_frames += (frames.len() - n_own) as u64;
        let owner = (process_image, row.thread.as_u32());
        let (stack, layout) = slice.intern(owner, frames.iter().copied(), scratch);
        let before = row.end;
        let row = slice.samples.get_mut(index)?;
        (row.stack, row.layout) = (stack, LayoutId::new(layout));
        row.end = match (is_whole, repaired.root, repaired.gap) {
            (false, ..) => EndReason::MaxFrames,
            (_, None, _) => row.end,
            (_, _, None) => EndReason::Root,
            (_, _, Some(_)) => EndReason::RootAcrossGap,
        };
        note_repaired(&mut slice.needs, (before, row.end), repaired.root);
        Some(())
    }
}
