//! Interning a chain of a slice, from its outermost frame inwards.

use address::ById as _;
use profile::{FrameId, LayoutRow, StackId, StackRow};

use crate::slice::frame_key::FrameKey;
use crate::slice::recent_values::Recent;

/// What is kept from one sample to the next.
#[derive(Default)]
pub(crate) struct SliceScratch {
    layout: LayoutRow,
    /// The last chain of each thread; threads may share one.
    chains: [LastChain; CHAINS],
}

/// How many last chains are kept.
const CHAINS: usize = 16;

/// The frames of a chain, outermost first, with their nodes.
pub(crate) type LastChain = Vec<(FrameKey, StackId)>;

impl SliceScratch {
    /// A layout to fill, and the last chain of a thread.
    pub(crate) fn of_thread(&mut self, thread: u32) -> (&mut LayoutRow, &mut LastChain) {
        (&mut self.layout, &mut self.chains[thread as usize % CHAINS])
    }
}

/// A chain as far as it is interned. Stacks of a thread that follow each other share their outer frames as a rule: what
/// equals the chain before it is not looked up again.
pub(crate) struct Chain<'s> {
    frames: &'s mut Recent<FrameKey, FrameId>,
    stacks: &'s mut Recent<StackRow, StackId>,
    last: &'s mut LastChain,
    /// How many frames there are, and the node of the innermost.
    depth: usize,
    node: Option<StackId>,
    /// Whether all of them are those of the last chain.
    shared: bool,
}

impl<'s> Chain<'s> {
    /// No frame yet, of the tables of a slice.
    pub(crate) fn new(
        frames: &'s mut Recent<FrameKey, FrameId>,
        stacks: &'s mut Recent<StackRow, StackId>,
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

    /// Adds a frame that the table has, with a node of its own: chains that go on elsewhere than they did have hardly any
    /// node in common with others but the outer ones of the chain before.
    #[inline]
    pub(crate) fn push_known(&mut self, frame: FrameId) {
        if let Some(&key) = self.frames.values().by_id(frame)
            && !self.shares(key)
        {
            let node = self.stacks.push(StackRow { parent: self.node, frame });
            self.note(key, node);
        }
    }

    /// The node of the innermost frame.
    pub(crate) fn end(self) -> Option<StackId> {
        self.last.truncate(self.depth);
        self.node
    }

    /// Takes the frame of the last chain where it is the same.
    #[inline]
    fn shares(&mut self, key: FrameKey) -> bool {
        if self.shared {
            if let Some(&(_, node)) = self.last.get(self.depth).filter(|(known, _)| *known == key) {
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
