//! Where the frames of a walked sample are: found one after the other, from the innermost outwards, as they are asked
//! for.

use profile::{FrameId, StackId};

use crate::frame::Place;
use crate::repair::SeenFrame;
use crate::replay::frame_key::PlacedFrame;
use crate::replay::slice::WalkedSlice;

/// Where the user frames of one sample are.
#[derive(Debug, Default)]
pub(crate) struct Places {
    known: Vec<Place>,
    next: Option<StackId>,
}

impl Places {
    /// Begins with a sample of a slice, which has so many frames of the kernel.
    pub(crate) fn begin(&mut self, slice: &WalkedSlice, index: usize, n_kernel: usize) {
        self.known.clear();
        self.next = slice.samples.get(index).and_then(|row| row.stack);
        for _ in 0..n_kernel {
            self.next = self.next.and_then(|at| slice.caller(at));
        }
    }

    /// Where the user frame of that index is, the innermost being 0; `frames` is what was seen of the sample.
    pub(crate) fn get(&mut self, slice: &WalkedSlice, frames: &[SeenFrame], index: usize) -> Place {
        while let at = self.known.len()
            && at <= index
            && let (Some(node), Some(frame)) = (self.next, frames.get(at))
            && let Some(node) = slice.stacks.values().get(node.index())
            && let Some(key) = slice.frames.values().get(node.frame.index())
        {
            self.known.push(key.place(frame.addr));
            self.next = node.parent;
        }
        self.known.get(index).copied().unwrap_or(Place::NOWHERE)
    }
}

impl WalkedSlice {
    /// The node of a node's caller.
    pub(super) fn caller(&self, at: StackId) -> Option<StackId> {
        self.stacks.values().get(at.index())?.parent
    }

    /// The frame of a node.
    pub(super) fn frame_at(&self, at: StackId) -> Option<FrameId> {
        self.stacks.values().get(at.index()).map(|node| node.frame)
    }

    /// A frame of a sample that has that layout.
    pub(super) fn placed(&self, frame: FrameId, layout: u32) -> PlacedFrame {
        let Some(key) = self.frames.values().get(frame.index()) else {
            return PlacedFrame::GAP;
        };
        let bias = |module| self.layouts.bias(layout, module, key.instance()).0;
        key.placed(key.module().map_or(0, bias))
    }
}
