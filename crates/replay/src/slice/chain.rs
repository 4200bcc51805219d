//! Interning of a chain in a slice, from its outermost frame inwards.

use address::ById as _;
use profile::{FrameId, LayoutRow, StackId, StackRow};

use crate::slice::frame_key::FrameKey;
use crate::slice::recent_values::RecentValues;

/// Buffers reused from one sample to the next.
#[derive(Default)]
pub(crate) struct SliceScratch {
    layout: LayoutRow,
    /// Last chain of each thread; threads may share an entry.
    chains: [LastChain; CHAINS],
}

/// Number of last chains.
const CHAINS: usize = 16;

/// Frames of a chain, outermost first, with their nodes.
pub(crate) type LastChain = Vec<(FrameKey, StackId)>;

impl SliceScratch {
    /// A layout to fill, and the last chain of a thread.
    pub(crate) fn of_thread(&mut self, thread: u32) -> (&mut LayoutRow, &mut LastChain) {
        (&mut self.layout, &mut self.chains[thread as usize % CHAINS])
    }
}

/// A partially interned chain.
/// Consecutive stacks of a thread mostly share their outer frames:
/// frames equal to those of the last chain are not looked up.
pub(crate) struct Chain<'s> {
    frames: &'s mut RecentValues<FrameKey, FrameId>,
    stacks: &'s mut RecentValues<StackRow, StackId>,
    last: &'s mut LastChain,
    /// Number of frames, and the node of the innermost one.
    depth: usize,
    node: Option<StackId>,
    /// True if all frames so far are equal to those of the last chain.
    shared: bool,
}

impl<'s> Chain<'s> {
    /// Creates an empty chain for the tables of a slice.
    pub(crate) fn new(
        frames: &'s mut RecentValues<FrameKey, FrameId>,
        stacks: &'s mut RecentValues<StackRow, StackId>,
        last: &'s mut LastChain,
    ) -> Self {
        Self { frames, stacks, last, depth: 0, node: None, shared: true }
    }

    /// Adds a frame inside of the others.
    #[inline]
    pub(crate) fn push(&mut self, key: FrameKey) {
        if !self.shares(key) {
            let frame = self.frames.number(key);
            self.add(key, frame);
        }
    }

    /// Adds a frame of the table with a new node.
    /// A completed chain rarely shares nodes with other chains, except outer ones with the last chain.
    #[inline]
    pub(crate) fn push_interned(&mut self, frame: FrameId) {
        if let Some(&key) = self.frames.values().by_id(frame)
            && !self.shares(key)
        {
            let node = self.stacks.push(StackRow { parent: self.node, frame });
            self.note(key, node);
        }
    }

    /// Returns the node of the innermost frame.
    pub(crate) fn end(self) -> Option<StackId> {
        self.last.truncate(self.depth);
        self.node
    }

    /// Reuses the node of the last chain if its frame is the same.
    #[inline]
    fn shares(&mut self, key: FrameKey) -> bool {
        if self.shared {
            if let Some(&(_, node)) =
                self.last.get(self.depth).filter(|(interned, _)| *interned == key)
            {
                self.node = Some(node);
                self.depth += 1;
                return true;
            }
            self.shared = false;
            self.last.truncate(self.depth);
        }
        false
    }

    #[inline]
    fn add(&mut self, key: FrameKey, frame: FrameId) {
        let node = self.stacks.number(StackRow { parent: self.node, frame });
        self.note(key, node);
    }

    #[inline]
    fn note(&mut self, key: FrameKey, node: StackId) {
        self.node = Some(node);
        self.last.push((key, node));
        self.depth += 1;
    }
}
