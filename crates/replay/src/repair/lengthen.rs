//! Puts the frames that repair found into a walked slice: the sample gets another stack.

use std::iter::successors;

use address::{Bias, ById as _};
use profile::{EndReason, FoundBy, FrameId, LayoutId, StackId, StackRow};
use unwinder::Place;

use crate::join::Repaired;
use crate::slice::chain::SliceScratch;
use crate::slice::frame_key::{FrameKey, PlacedFrame};
use crate::slice::stack_needs::note_repaired;
use crate::slice::walk::WalkedSlice;

/// Continues chains of one slice, up to so many user frames.
pub(crate) struct Lengthening {
    max_frames: usize,
    scratch: SliceScratch,
    /// The frames that a sample has, and what they are continued with; both innermost first.
    own: Vec<FrameId>,
    joined: Vec<PlacedFrame>,
}

impl Lengthening {
    pub(crate) fn new(max_frames: usize) -> Self {
        let (scratch, own, joined) = Default::default();
        Self { max_frames, scratch, own, joined }
    }

    /// Continues the chain of the sample of that index of the slice with these callers.
    pub(crate) fn lengthen(
        &mut self,
        slice: &mut WalkedSlice,
        index: usize,
        repaired: Repaired,
        callers: &[Place],
    ) -> Option<()> {
        let row = *slice.samples.get(index).filter(|_| !callers.is_empty())?;
        self.own.clear();
        self.own.extend(slice.frames_of(row.stack));
        let max_frames = slice.seen.n_kernel(index).saturating_add(self.max_frames);
        let is_whole = self.put_together(repaired, callers, max_frames);
        slice.counts.n_frames += self.joined.len() as u64;
        let (layout, thread) = (row.layout.as_u32(), row.thread.as_u32());
        let (stack, layout) = match self.intern(slice, layout, thread) {
            Some(known) => known,
            None => self.intern_anew(slice, layout, thread)?,
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

    /// What the chain is continued with, as far as there is room for it; whether that is all.
    fn put_together(&mut self, repaired: Repaired, callers: &[Place], max_frames: usize) -> bool {
        let Self { own, joined, .. } = self;
        let frame =
            |&place| PlacedFrame { place, found_by: FoundBy::Joined, kernel: false, whole: false };
        let (sure, behind) = callers.split_at(repaired.gap.unwrap_or(callers.len()));
        joined.clear();
        joined.extend(sure.iter().map(frame));
        joined.extend(repaired.gap.map(|_| PlacedFrame::GAP));
        joined.extend(behind.iter().map(frame));
        let room = max_frames.saturating_sub(own.len());
        let is_whole = joined.len() <= room;
        joined.truncate(room);
        // A gap with nothing behind it says nothing.
        if joined.last().is_some_and(|frame| frame.found_by == FoundBy::Gap) {
            joined.pop();
        }
        is_whole
    }

    /// The ids of the stack and the layout: the sample's own frames stay as they are. `None` where a module of the new
    /// ones lies in several places, which can make others of them.
    fn intern(
        &mut self,
        slice: &mut WalkedSlice,
        layout: u32,
        thread: u32,
    ) -> Option<(Option<StackId>, u32)> {
        let Self { scratch, own, joined, .. } = self;
        let (row, process_image) = slice.layouts.row(layout)?;
        let (whole, chain) = scratch.of_thread(thread);
        let places = joined.iter().map(|frame| frame.place);
        let images = places.filter_map(|place| Some((place.module?, Bias(place.bias))));
        let mut last = None;
        let mut is_new = false;
        for (module, bias) in images.filter(|image| last.replace(*image) != Some(*image)) {
            if !is_new && !row.has_only(module, bias) {
                whole.clone_from(row);
                is_new = true;
            }
            if is_new {
                // A module that lies in several places is none of these.
                whole.instance(module, bias)?;
                if !whole.has_only(module, bias) {
                    return None;
                }
            }
        }
        let layout = if is_new { slice.layouts.intern(process_image, whole) } else { layout };
        let mut chain = slice.chain(chain);
        joined.iter().rev().for_each(|frame| chain.push(FrameKey::new(frame, 0)));
        own.iter().rev().for_each(|frame| chain.push_known(*frame));
        Some((chain.end(), layout))
    }

    /// The ids of the stack and the layout, of frames that are all made anew.
    fn intern_anew(
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
    /// The frames of a chain, innermost first.
    fn frames_of(&self, stack: Option<StackId>) -> impl Iterator<Item = FrameId> {
        let row = |at: StackId| self.stacks.values().by_id(at);
        let rows = successors(stack.and_then(row), move |at: &&StackRow| at.parent.and_then(row));
        rows.map(|row| row.frame)
    }

    /// A frame of a sample that has that layout.
    fn placed(&self, frame: FrameId, layout: u32) -> PlacedFrame {
        let Some(key) = self.frames.values().by_id(frame) else {
            return PlacedFrame::GAP;
        };
        let bias = |module| self.layouts.bias(layout, module, key.instance()).0;
        key.placed(key.module().map_or(0, bias))
    }
}
