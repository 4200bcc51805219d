//! The walk of one sample: from the sampled registers to the root, frame by frame, or to the reason for an early end.

mod after_return;
mod assembly;
mod callee;
mod chain;
mod executed;
mod frame_states;
mod limits;
mod lost;
mod outcome;
mod proof;
mod return_probe;
mod rules;
mod simple_step;
mod stack_switch;
mod start;
mod step;
mod without_cfi;
mod worker_cache;

use std::cell::Cell;
use std::sync::Arc;

use address::Avma;
use image_store::{ImageStore, LoadedImage};
use module_map::Space;
use profile::{EndReason, FoundBy};

use crate::arch::{Arch, Processor, processor};
use crate::engine::Engine;
use crate::frame::Frame;
use crate::state::{Registers, SampleMemory, WalkContext, WalkMode, WordForm};
use crate::stored::StoredRules;
pub use crate::walk::frame_states::{FrameStates, StateBuffer};
use crate::walk::limits::{most_tried, steps_of};
use crate::walk::outcome::WalkOutcome;
use crate::walk::start::{WalkStart, initial_registers};
use crate::walk::worker_cache::STACKS;
pub use crate::walk::worker_cache::WorkerCache;

/// The user part of a sample.
#[derive(Clone, Copy, Debug)]
pub struct UserState<'a> {
    /// The processor of the registers.
    pub arch: Arch,
    /// The stack bytes, from the stack pointer up.
    pub stack: &'a [u8],
    /// True if the stack is big-endian.
    pub big_endian: bool,
    /// True if the sample was taken in the kernel without full user registers: on x86-64, -1 in rbx and r12 to r15 then
    /// means "unknown".
    pub partial_registers: bool,
    /// True if the sampled instruction has executed: all other registers, and the stack, show its after-state.
    pub executed: bool,
    /// The address space at the time of the sample.
    pub space: &'a Space,
    /// The thread, by any id. Walks are fastest if the samples of one thread come in the order of time.
    pub thread: u32,
}

impl<'a> UserState<'a> {
    /// The memory of the sample, with the steps that expressions may run for it.
    fn memory(
        &self,
        registers: &Registers,
        arch: Processor,
        images: &'a ImageStore,
        steps: &'a Cell<u32>,
    ) -> SampleMemory<'a> {
        steps.set(steps_of(self.stack.len()));
        SampleMemory {
            stack: self.stack,
            stack_start: registers.sp(arch),
            form: WordForm::of(arch, self.big_endian),
            space: self.space,
            images,
            steps,
        }
    }
}

/// The walker of one worker thread, for one sample after another.
#[derive(Debug)]
pub struct Walker<'e> {
    engine: &'e Engine,
    images: &'e ImageStore,
    max_frames: usize,
    /// The rules cached on disk across runs.
    stored_rules: Option<&'e StoredRules>,
    cache: WorkerCache,
    /// CFA of the last function of the last walk, if the caller's bytes are missing.
    truncated_at: Option<u64>,
    /// Steps with a cached rule, and steps with a newly made rule.
    hits: u64,
    misses: u64,
}

impl<'e> Walker<'e> {
    /// Creates a walker that emits at most `max_frames` user frames a sample.
    #[must_use]
    pub fn new(engine: &'e Engine, images: &'e ImageStore, max_frames: usize) -> Self {
        Self::with_cache(WorkerCache::default(), engine, images, max_frames)
    }

    /// Creates a walker with the caches of another one that had the same engine, images and spaces.
    #[must_use]
    pub fn with_cache(
        mut cache: WorkerCache,
        engine: &'e Engine,
        images: &'e ImageStore,
        max_frames: usize,
    ) -> Self {
        cache.fallback.within(engine.budget());
        Self {
            engine,
            images,
            max_frames,
            stored_rules: None,
            cache,
            truncated_at: None,
            hits: 0,
            misses: 0,
        }
    }

    /// From now on, takes rules from those that are cached on disk across runs.
    pub const fn use_stored_rules(&mut self, stored_rules: Option<&'e StoredRules>) {
        self.stored_rules = stored_rules;
    }

    /// Returns the caches, for the next walker.
    #[must_use]
    pub fn into_cache(self) -> WorkerCache {
        self.cache
    }

    /// Returns the slots of the return addresses that the last walk of a thread read, innermost first. They are byte
    /// offsets from `sp`, the stack pointer of the next sample. Slots below `sp` have offsets beyond any stack.
    #[inline]
    pub fn return_addresses_read(&self, thread: u32, sp: u64) -> impl Iterator<Item = usize> {
        self.cache.stacks[thread as usize % STACKS].return_addresses(sp)
    }

    /// Number of steps with a cached rule, over all walks so far.
    #[inline]
    #[must_use]
    pub const fn cache_hits(&self) -> u64 {
        self.hits
    }

    /// Number of steps with a newly made rule, over all walks so far.
    #[inline]
    #[must_use]
    pub const fn cache_misses(&self) -> u64 {
        self.misses
    }

    /// Walks the user stack of a sample and appends its frames, innermost first. `sampled` yields each register as (bit
    /// of the recorder's mask, value).
    pub fn walk(
        &mut self,
        state: &UserState<'_>,
        sampled: impl Iterator<Item = (u32, u64)> + Clone,
        frames: &mut Vec<Frame>,
    ) -> EndReason {
        let outcome = self.walk_sample(state, sampled, frames);
        self.truncated_at = outcome.end.truncated_at;
        outcome.end.reason
    }

    /// As [`Self::walk`], with all facts about the end.
    fn walk_sample(
        &mut self,
        state: &UserState<'_>,
        sampled: impl Iterator<Item = (u32, u64)> + Clone,
        frames: &mut Vec<Frame>,
    ) -> WalkOutcome {
        let Some(arch) = processor(state.arch) else { return EndReason::UnsupportedAbi.into() };
        let again = || initial_registers(state, arch, sampled.clone()).0;
        let (registers, pc) = initial_registers(state, arch, sampled.clone());
        self.walk_registers(state, registers, pc, arch, &again, frames)
    }

    /// Walks from registers and the program counter; `again` yields the registers again. It is a separate function so
    /// that crates that call the generic one do not compile the whole walk.
    fn walk_registers(
        &mut self,
        state: &UserState<'_>,
        registers: Registers,
        pc: Option<u64>,
        arch: Processor,
        again: &dyn Fn() -> Registers,
        frames: &mut Vec<Frame>,
    ) -> WalkOutcome {
        let first = frames.len();
        let Some(pc) = pc.map(Avma) else { return EndReason::NoUserRegs.into() };
        let steps = &Cell::new(0);
        let memory = state.memory(&registers, arch, self.images, steps);
        let trial_frames = &Cell::new(most_tried(state.stack.len()));
        let context = WalkContext { memory, arch, mode: WalkMode::Sample, trial_frames };
        let at = state.thread as usize % STACKS;
        let mut stack = std::mem::take(&mut self.cache.stacks[at]);
        stack.begin(state.space.version(), arch);
        let mut outcome = if state.executed {
            self.walk_after_executed(pc, &mut stack, registers, &context, frames)
        } else {
            self.walk_from(WalkStart::sampled(pc), &mut stack, registers, &context, frames)
        };
        stack.end();
        self.cache.stacks[at] = stack;
        if outcome.end.reason == EndReason::ReturnProbe {
            outcome = self.walk_past_probes(outcome, first, &context, frames);
        }
        if outcome.end.reason == EndReason::OtherStack && outcome.end.last.is_some() {
            return self.walk_below_switch(outcome, first, &context, frames);
        }
        if outcome.end.reason == EndReason::Root && !outcome.has_gap {
            return outcome;
        }
        self.recover(outcome, pc, first, again, &context, frames)
    }

    /// CFA of the last function of the last walk, an address in the process, if it is known and the walk ended because
    /// the next bytes are missing.
    #[inline]
    #[must_use]
    pub const fn truncated_at(&self) -> Option<u64> {
        self.truncated_at
    }

    /// The store that files are opened from.
    #[must_use]
    pub const fn images(&self) -> &'e ImageStore {
        self.images
    }

    /// Returns the opened file that is mapped at an address of the process.
    #[must_use]
    pub fn image_at(&self, address: Avma, space: &Space) -> Option<Arc<LoadedImage>> {
        let mapping = self.images.mapping_at(address, space)?;
        self.images.image(space.module(&mapping)?).ok().cloned()
    }

    /// Maximum number of user frames of a sample.
    #[inline]
    #[must_use]
    pub const fn max_frames(&self) -> usize {
        self.max_frames
    }

    /// Returns the user-mode frame at a looked-up address in the process, without a walk to it.
    pub fn frame_at(&mut self, lookup: Avma, space: &Space, found_by: FoundBy) -> Frame {
        let found = self.cache.mappings.lookup(lookup, space, self.images);
        found.map_or(Frame::nowhere(lookup, found_by), |mapping| mapping.frame(lookup, found_by))
    }
}

/// Returns the opened file that is mapped at an address.
fn file_at<'m>(lookup: Avma, memory: &SampleMemory<'m>) -> Option<&'m Arc<LoadedImage>> {
    let mapping = memory.images.mapping_at(lookup, memory.space)?;
    memory.images.image(memory.space.module(&mapping)?).ok()
}
