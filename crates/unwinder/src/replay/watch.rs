//! A replay that is looked at while it goes on: what is known so far, for output that is written before the end.

use module_map::Timeline;
use perf_data::Window;

use crate::replay::layout::Layout;
use crate::replay::merge::{FrameKey, Outcome, StackNode};
use crate::replay::plan::{PlanPosition, Thread};
use crate::replay::run::{BATCH, Replayer};

/// The first batch of a replay that is watched; each is twice as large as the one before, up to the usual size.
const FIRST: usize = 1024;

/// What a replay has found so far. Tables only grow: what has a number keeps it.
#[derive(Debug)]
pub struct Partial<'a> {
    /// The timeline as the plan has moved it, which is further than the samples.
    pub timeline: &'a Timeline,
    /// Threads that have samples, in order of first appearance; those of planned samples among them.
    pub threads: &'a [Thread],
    /// Distinct frames.
    pub frames: &'a [FrameKey],
    /// The prefix tree of stacks.
    pub stacks: &'a [StackNode],
    /// The samples that are done, in time order.
    pub samples: &'a [Outcome],
    layouts: &'a [(module_map::Lineage, Layout)],
}

impl<'a> Partial<'a> {
    /// Where modules lay. A row may get modules that samples of later touch; it loses none.
    pub fn layouts(&self) -> impl ExactSizeIterator<Item = &'a Layout> + use<'a> {
        self.layouts.iter().map(|(_, layout)| layout)
    }
}

impl Replayer<'_> {
    /// What is known so far.
    #[must_use]
    pub fn partial(&self) -> Partial<'_> {
        let merged = &self.merged;
        Partial {
            timeline: self.planner.timeline(),
            threads: self.planner.threads(),
            frames: merged.frames.values(),
            stacks: merged.stacks.values(),
            samples: &merged.samples,
            layouts: &merged.layouts.rows,
        }
    }

    /// Replays a window as [`Self::feed`] does, in batches that are small at first, and calls `watch` after each step.
    ///
    /// # Errors
    /// The first one of `watch`, which ends the window.
    pub fn feed_watched<E>(
        &mut self,
        window: Window,
        watch: &mut dyn FnMut(&Self) -> Result<(), E>,
    ) -> Result<(), E> {
        let window = self.begin(window);
        let mut place = PlanPosition::start(&window);
        while !place.is_at_end() {
            let limit = self.merged.samples.len().clamp(FIRST, BATCH);
            self.step(&window, &mut place, limit, &|_| {});
            watch(self)?;
        }
        Ok(())
    }

    /// Finishes the samples of all windows so far instead of letting the last ones wait for the next window.
    pub fn settle(&mut self) {
        while self.is_busy() {
            self.turn(None, BATCH, &|_| {});
        }
    }
}
