//! Adds the callers found by repair to a walked slice: the sample gets another stack.

use std::iter::successors;

use address::{Bias, ById as _};
use profile::{EndReason, FoundBy, FrameId, LayoutId, StackId, StackRow};
use unwinder::CodeLocation;

use crate::join::ChainRepair;
use crate::slice::chain::SliceScratch;
use crate::slice::frame_key::{FrameKey, PlacedFrame};
use crate::slice::stack_needs::note_repaired;
use crate::slice::walk::WalkedSlice;

/// Completes chains of one slice, up to a maximum number of user frames.
pub(crate) struct ChainExtender {
    max_frames: usize,
    scratch: SliceScratch,
    /// Frames of a sample, and the frames to add; both innermost first.
    own: Vec<FrameId>,
    joined: Vec<PlacedFrame>,
}

impl ChainExtender {
    pub(crate) fn new(max_frames: usize) -> Self {
        let (scratch, own, joined) = Default::default();
        Self { max_frames, scratch, own, joined }
    }

    /// Adds these callers to the chain of a sample, given by its index in the slice.
    pub(crate) fn extend(
        &mut self,
        slice: &mut WalkedSlice,
        index: usize,
        repaired: ChainRepair,
        callers: &[CodeLocation],
    ) -> Option<()> {
        let row = *slice.samples.get(index).filter(|_| !callers.is_empty())?;
        self.own.clear();
        self.own.extend(slice.frames_of(row.stack));
        let max_frames = slice.observed.n_kernel(index).saturating_add(self.max_frames);
        let is_whole = self.collect_frames(repaired, callers, max_frames);
        slice.counts.n_frames += self.joined.len() as u64;
        let (layout, thread) = (row.layout.as_u32(), row.thread.as_u32());
        let (stack, layout) = match self.intern(slice, layout, thread) {
            Some(known) => known,
            None => self.intern_again(slice, layout, thread)?,
        };
        let before = row.end;
        let row = slice.samples.get_mut(index)?;
        (row.stack, row.layout) = (stack, LayoutId::new(layout));
        row.end = match (is_whole, repaired.root, repaired.gap) {
            (false, ..) => EndReason::MaxFrames,
            (_, None, _) if repaired.begins => EndReason::RootAcrossGap,
            (_, None, _) => row.end,
            (_, _, None) => EndReason::Root,
            (_, _, Some(_)) => EndReason::RootAcrossGap,
        };
        note_repaired(&mut slice.counts.needs, before, row.end, repaired.root);
        Some(())
    }

    /// Collects the frames to add up to the maximum, and returns true if all of them fit.
    fn collect_frames(
        &mut self,
        repaired: ChainRepair,
        callers: &[CodeLocation],
        max_frames: usize,
    ) -> bool {
        let Self { own, joined, .. } = self;
        let frame = |&location| PlacedFrame {
            location,
            found_by: FoundBy::Joined,
            kernel: false,
            whole: false,
        };
        let (sure, beyond_gap) = callers.split_at(repaired.gap.unwrap_or(callers.len()));
        joined.clear();
        joined.extend(sure.iter().map(frame));
        joined.extend(repaired.gap.map(|_| PlacedFrame::GAP));
        joined.extend(beyond_gap.iter().map(frame));
        let room = max_frames.saturating_sub(own.len());
        let is_whole = joined.len() <= room;
        joined.truncate(room);
        // A gap without frames after it has no meaning.
        if joined.last().is_some_and(|frame| frame.found_by == FoundBy::Gap) {
            joined.pop();
        }
        is_whole
    }

    /// Returns the ids of the stack and the layout; the sample's own frames are unchanged.
    /// `None` if a new frame's module has several load addresses, which can change the instances of the own frames.
    fn intern(
        &mut self,
        slice: &mut WalkedSlice,
        layout: u32,
        thread: u32,
    ) -> Option<(Option<StackId>, u32)> {
        let Self { scratch, own, joined, .. } = self;
        let (row, process_image) = slice.layouts.row(layout)?;
        let (whole, chain) = scratch.of_thread(thread);
        let locations = joined.iter().map(|frame| frame.location);
        let images = locations.filter_map(|location| Some((location.module?, Bias(location.bias))));
        let mut last = None;
        let mut is_new = false;
        for (module, bias) in images.filter(|image| last.replace(*image) != Some(*image)) {
            if !is_new && !row.is_only_image(module, bias) {
                whole.clone_from(row);
                is_new = true;
            }
            if is_new {
                // A module with several load addresses is not supported here.
                whole.instance(module, bias)?;
                if !whole.is_only_image(module, bias) {
                    return None;
                }
            }
        }
        let layout = if is_new { slice.layouts.intern(process_image, whole) } else { layout };
        let mut chain = slice.chain(chain);
        joined.iter().rev().for_each(|frame| chain.push(FrameKey::new(frame, 0)));
        own.iter().rev().for_each(|frame| chain.push_interned(*frame));
        Some((chain.end(), layout))
    }

    /// Returns the ids of the stack and the layout after interning all frames again.
    fn intern_again(
        &mut self,
        slice: &mut WalkedSlice,
        layout: u32,
        thread: u32,
    ) -> Option<(Option<StackId>, u32)> {
        let Self { scratch, own, joined, .. } = self;
        let process_image = slice.layouts.process_image(layout)?;
        let own = own.iter().map(|frame| slice.placed(*frame, layout));
        let frames: Vec<PlacedFrame> = own.chain(joined.iter().copied()).collect();
        Some(slice.intern(process_image, thread, frames.into_iter(), scratch))
    }
}

impl WalkedSlice {
    /// Returns the frames of a chain, innermost first.
    fn frames_of(&self, stack: Option<StackId>) -> impl Iterator<Item = FrameId> {
        let row = |at: StackId| self.stacks.values().by_id(at);
        let rows = successors(stack.and_then(row), move |at: &&StackRow| at.parent.and_then(row));
        rows.map(|row| row.frame)
    }

    /// Returns a frame of a sample with that layout.
    fn placed(&self, frame: FrameId, layout: u32) -> PlacedFrame {
        let Some(key) = self.frames.values().by_id(frame) else {
            return PlacedFrame::GAP;
        };
        let bias = |module| self.layouts.bias(layout, module, key.instance()).0;
        key.placed(key.module().map_or(0, bias))
    }
}
