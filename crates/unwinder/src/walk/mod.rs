//! The walk of one sample: from the sampled registers outwards, frame by frame, to the root or to the reason why it
//! is not reached.

mod after_return;
mod assembly;
mod callee;
mod chain;
mod executed;
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
mod vdso;
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
use crate::kept::KeptRules;
use crate::state::{Memory, Mode, Registers, WalkContext, WordForm};
use crate::walk::limits::{most_tried, steps_of};
use crate::walk::outcome::WalkOutcome;
use crate::walk::start::{WalkStart, initial_registers};
use crate::walk::worker_cache::STACKS;
pub use crate::walk::worker_cache::WorkerCache;

/// The user part of a sample.
#[derive(Clone, Copy, Debug)]
pub struct UserState<'a> {
    /// The processor that the registers are of.
    pub arch: Arch,
    /// The stack bytes, from the stack pointer up.
    pub stack: &'a [u8],
    /// Whether the stack is big-endian.
    pub big_endian: bool,
    /// The sample was taken in the kernel without full user registers: on x86-64, -1 in rbx and r12 to r15 then means
    /// "not known".
    pub partial_registers: bool,
    /// The instruction at the program counter has run: all other registers, and the stack, are of behind it.
    pub executed: bool,
    /// The address space at the time of the sample.
    pub space: &'a Space,
    /// The thread by any id: samples of one thread, in the order of time, are walked the fastest.
    pub thread: u32,
}

/// The worker of one thread: walks sample after sample.
#[derive(Debug)]
pub struct Walker<'e> {
    engine: &'e Engine,
    images: &'e ImageStore,
    max_frames: usize,
    /// The rules that are kept from run to run.
    kept: Option<&'e KeptRules>,
    cache: WorkerCache,
    /// The CFA of the last function of the last walk, if the bytes of the caller are missing.
    cut_at: Option<u64>,
    /// Steps whose rule was known, and steps whose rule had to be made.
    hits: u64,
    misses: u64,
}

impl<'e> Walker<'e> {
    /// A walker that emits at most `max_frames` user frames a sample.
    #[must_use]
    pub fn new(engine: &'e Engine, images: &'e ImageStore, max_frames: usize) -> Self {
        Self::with_cache(WorkerCache::default(), engine, images, max_frames)
    }

    /// A walker with the caches of another one whose engine, images and spaces were the same.
    #[must_use]
    pub fn with_cache(
        mut cache: WorkerCache,
        engine: &'e Engine,
        images: &'e ImageStore,
        max_frames: usize,
    ) -> Self {
        cache.fallback.within(engine.budget());
        Self { engine, images, max_frames, kept: None, cache, cut_at: None, hits: 0, misses: 0 }
    }

    /// From now on rules are taken from those that are kept from run to run.
    pub const fn keep_rules(&mut self, kept: Option<&'e KeptRules>) {
        self.kept = kept;
    }

    /// What it has found, for the next walker.
    #[must_use]
    pub fn into_cache(self) -> WorkerCache {
        self.cache
    }

    /// The places of the return addresses that the last walk of a thread read, innermost first: bytes from `sp` on, the
    /// stack pointer of the sample that is walked next. Those below it have offsets beyond all stacks.
    #[inline]
    pub fn return_addresses_read(&self, thread: u32, sp: u64) -> impl Iterator<Item = usize> {
        self.cache.stacks[thread as usize % STACKS].return_addresses(sp)
    }

    /// Steps whose rule was known so far, of all walks.
    #[inline]
    #[must_use]
    pub const fn cache_hits(&self) -> u64 {
        self.hits
    }

    /// Steps whose rule had to be made so far, of all walks.
    #[inline]
    #[must_use]
    pub const fn cache_misses(&self) -> u64 {
        self.misses
    }

    /// Walks the user stack of a sample and appends its frames, innermost first. `sampled` gives the registers as (bit
    /// of the recorder's mask, value).
    pub fn walk(
        &mut self,
        state: &UserState<'_>,
        sampled: impl Iterator<Item = (u32, u64)> + Clone,
        frames: &mut Vec<Frame>,
    ) -> EndReason {
        let outcome = self.walk_sample(state, sampled, frames);
        self.cut_at = outcome.end.cut_at;
        outcome.end.reason
    }

    /// The same, with all that is known of the end.
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

    /// The same from registers and the program counter; `again` gives the registers once more. It is a function of its own
    /// because callers in other crates compile code that is generic over their registers.
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
        let memory = Memory {
            stack: state.stack,
            stack_start: registers.sp(arch),
            form: WordForm::of(arch, state.big_endian),
            space: state.space,
            images: self.images,
            steps: &Cell::new(steps_of(state.stack.len())),
        };
        let trial_frames = &Cell::new(most_tried(state.stack.len()));
        let context = WalkContext { memory, arch, mode: Mode::Sample, trial_frames };
        let at = state.thread as usize % STACKS;
        let mut stack = std::mem::take(&mut self.cache.stacks[at]);
        stack.begin(state.space.version(), arch);
        let mut outcome = if state.executed {
            self.walk_behind(pc, &mut stack, registers, &context, frames)
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

    /// The CFA of the last function of the last walk, if it is known and the walk ended for
    /// want of the bytes that follow. An address in the process.
    #[inline]
    #[must_use]
    pub const fn cut_at(&self) -> Option<u64> {
        self.cut_at
    }

    /// The limit of the user frames of a sample.
    #[inline]
    #[must_use]
    pub const fn max_frames(&self) -> usize {
        self.max_frames
    }

    /// The frame of user mode at a looked-up address in the process that was not walked to.
    pub fn frame_at(&mut self, lookup: Avma, space: &Space, found_by: FoundBy) -> Frame {
        let found = self.cache.mappings.lookup(lookup, space, self.images);
        found.map_or(Frame::nowhere(lookup, found_by), |mapping| mapping.frame(lookup, found_by))
    }
}

/// The opened file that is mapped at an address.
fn file_at<'m>(lookup: Avma, memory: &Memory<'m>) -> Option<&'m Arc<LoadedImage>> {
    let mapping = memory.images.mapping_at(lookup, memory.space)?;
    memory.images.image(memory.space.module(&mapping)?).ok()
}
