//! The merge: what the batches found becomes one set of tables, in the order of the samples.

use std::hash::{Hash, Hasher};

use address::ModuleId;
use profile::{EndReason, FoundBy};

use crate::frame::Frame;
use crate::replay::batch::BatchResult;
use crate::replay::intern::Interner;
use crate::replay::layout::{Layouts, Merging};
use crate::replay::plan::Planned;

/// A distinct frame, apart from where its module lay. Two words, since a million of them are hashed and compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameKey {
    relative: u64,
    /// Module (all ones for none), then a byte each of instance, found-by and kernel mode.
    rest: u64,
}

impl FrameKey {
    pub(crate) fn new(frame: &Frame, instance: u8) -> Self {
        let module = frame.module.map_or(u32::MAX, |module| module.0);
        let rest = u64::from(module) << 32
            | u64::from(instance) << 16
            | (frame.found_by as u64) << 8
            | u64::from(frame.kernel);
        Self { relative: frame.relative, rest }
    }

    /// What was mapped at the looked-up address.
    #[must_use]
    pub fn module(&self) -> Option<ModuleId> {
        let id = (self.rest >> 32) as u32;
        (id != u32::MAX).then_some(ModuleId(id))
    }

    /// The looked-up address in the module, as in [`crate::Frame`].
    #[must_use]
    pub const fn relative(&self) -> u64 {
        self.relative
    }

    /// Which of several images of the module in one process.
    #[must_use]
    pub const fn instance(&self) -> u8 {
        (self.rest >> 16) as u8
    }

    /// How it was found.
    #[must_use]
    pub fn found_by(&self) -> FoundBy {
        let index = usize::from((self.rest >> 8) as u8);
        FoundBy::ALL.get(index).copied().unwrap_or(FoundBy::Sampled)
    }

    /// Whether it ran in kernel mode.
    #[must_use]
    pub const fn kernel(&self) -> bool {
        self.rest & 1 != 0
    }
}

impl Hash for FrameKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // One multiplication less than hashing both: the modules' numbers are small.
        state.write_u64(self.relative ^ self.rest.rotate_left(23));
    }
}

/// A node of the prefix tree of stacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StackNode {
    /// The caller's node; `u32::MAX` for an outermost frame.
    pub parent: u32,
    /// The index of the frame.
    pub frame: u32,
}

impl Hash for StackNode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.parent) << 32 | u64::from(self.frame));
    }
}

/// No node: the parent of outermost frames, the stack of a sample without frames.
pub(crate) const NO_NODE: u32 = u32::MAX;

/// One sample of the result.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// When; 0 where it was not recorded.
    pub time: address::Timestamp,
    /// Index of the thread.
    pub thread: u32,
    /// Index of the event.
    pub event: u16,
    /// Why the chain ended.
    pub end: EndReason,
    /// On which processor.
    pub cpu: Option<u32>,
    /// The weight in units of the event.
    pub period: Option<u64>,
    /// The innermost frame's node, `u32::MAX` for none.
    pub stack: u32,
    /// Index of the layout.
    pub layout: u32,
}

/// The tables that grow batch by batch.
#[derive(Debug, Default)]
pub(crate) struct Merged {
    pub(crate) frames: Interner<FrameKey>,
    pub(crate) stacks: Interner<StackNode>,
    pub(crate) layouts: Layouts,
    pub(crate) samples: Vec<Outcome>,
    pub(crate) n_frames: u64,
    pub(crate) undecoded: u64,
    pub(crate) late_maps: u64,
    pub(crate) cache_hits: u64,
    pub(crate) cache_misses: u64,
}

impl Merged {
    /// Takes in a batch. Parents come before their children in a batch, so one pass translates its ids.
    pub(crate) fn add(&mut self, planned: &[Planned], batch: &BatchResult) {
        let frames: Vec<u32> =
            batch.frames.values().iter().map(|&frame| self.frames.intern(frame)).collect();
        let mut stacks: Vec<u32> = Vec::with_capacity(batch.stacks.values().len());
        for node in batch.stacks.values() {
            let parent = stacks.get(node.parent as usize).copied().unwrap_or(NO_NODE);
            let frame = frames.get(node.frame as usize).copied().unwrap_or(0);
            stacks.push(self.stacks.intern(StackNode { parent, frame }));
        }
        let mut layouts = Merging::new(&batch.layouts);
        for walked in &batch.samples {
            let Some(planned) = planned.get(walked.planned as usize) else { continue };
            self.n_frames += u64::from(walked.n_frames);
            self.samples.push(Outcome {
                time: planned.entry.time,
                thread: planned.thread,
                event: planned.entry.event,
                end: walked.end,
                cpu: walked.cpu,
                period: walked.period,
                stack: stacks.get(walked.stack as usize).copied().unwrap_or(NO_NODE),
                layout: layouts.next(walked.layout, &mut self.layouts),
            });
        }
        self.undecoded += batch.undecoded;
        self.late_maps += batch.late_maps;
        self.cache_hits += batch.cache_hits;
        self.cache_misses += batch.cache_misses;
    }
}
