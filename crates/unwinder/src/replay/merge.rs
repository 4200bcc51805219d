//! The merge: what the batches found becomes one set of tables, in the order of the samples.

use address::ModuleId;

use crate::reason::{EndReason, FoundBy};
use crate::replay::batch::BatchResult;
use crate::replay::intern::Interner;
use crate::replay::layout::Layouts;
use crate::replay::plan::Planned;

/// A distinct frame, apart from where its module lay.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FrameKey {
    /// What was mapped at the looked-up address.
    pub module: Option<ModuleId>,
    /// The looked-up address in the module, as in [`crate::Frame`].
    pub relative: u64,
    /// Which of several images of the module in one process.
    pub instance: u8,
    /// How it was found.
    pub found_by: FoundBy,
    /// Whether it ran in kernel mode.
    pub kernel: bool,
}

/// A node of the prefix tree of stacks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StackNode {
    /// The caller's node, or [`NO_NODE`] for an outermost frame.
    pub parent: u32,
    /// The index of the frame.
    pub frame: u32,
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
    pub(crate) dump_used_up: u64,
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
        let rows = &batch.layouts.rows;
        let layouts: Vec<u32> =
            rows.iter().map(|(lineage, layout)| self.layouts.find(*lineage, layout)).collect();
        for walked in &batch.samples {
            let Some(planned) = planned.get(walked.planned as usize) else { continue };
            self.n_frames += u64::from(walked.n_frames);
            self.dump_used_up += u64::from(walked.dump_used_up);
            self.samples.push(Outcome {
                time: planned.entry.time,
                thread: planned.thread,
                event: planned.entry.event,
                end: walked.end,
                cpu: walked.cpu,
                period: walked.period,
                stack: stacks.get(walked.stack as usize).copied().unwrap_or(NO_NODE),
                layout: layouts.get(walked.layout as usize).copied().unwrap_or(0),
            });
        }
        self.undecoded += batch.undecoded;
    }
}
