//! The walk of one sample: from the sampled registers outwards, frame by frame, to the root or to the reason why it
//! is not reached.

mod assembly;
mod executed;
mod limits;
mod lost;
mod outcome;
mod plain;
mod proof;
mod return_probe;
mod returned;
mod rules;
mod scheduler;
mod settle;
mod start;
mod step;
mod switch;
mod uncovered;
mod vdso;
mod worker_cache;

use std::cell::Cell;
use std::sync::Arc;

use address::{Avma, Svma};
use module_map::{ImageStore, LoadedImage, Mapping, Space};
use profile::{EndReason, FoundBy};

use crate::arch::{Arch, NARROW, WIDE, processor};
use crate::cache::{CachedMapping, Followed, StackCache, WalkState};
use crate::engine::Engine;
use crate::frame::{Frame, Remark, Step};
use crate::kept::KeptRules;
use crate::rule::Rule;
use crate::state::{Memory, Mode, Registers, WalkContext, WordForm};
use crate::walk::limits::{is_stuck, most_frames, most_tried, steps_of};
use crate::walk::outcome::{ChainEnd, WalkOutcome};
use crate::walk::plain::PlainStep;
use crate::walk::proof::RootBy;
use crate::walk::return_probe::{end_nowhere, is_trampoline};
use crate::walk::settle::settle;
use crate::walk::start::{WalkStart, initial_registers};
use crate::walk::uncovered::Uncovered;
use crate::walk::worker_cache::STACKS;
pub(crate) use crate::walk::worker_cache::WorkerCache;

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
    /// Where the last function of the last walk has its frame (its CFA), if the bytes of the caller are missing.
    cut_at: Option<u64>,
    /// Steps whose rule was known, and steps whose rule had to be made.
    pub(crate) hits: u64,
    pub(crate) misses: u64,
}

impl<'e> Walker<'e> {
    /// A walker that emits at most `max_frames` user frames a sample.
    #[must_use]
    pub fn new(engine: &'e Engine, images: &'e ImageStore, max_frames: usize) -> Self {
        Self::with_cache(WorkerCache::new(), engine, images, max_frames)
    }

    /// A walker that goes on from where another one of the same replay stopped.
    pub(crate) fn with_cache(
        mut cache: WorkerCache,
        engine: &'e Engine,
        images: &'e ImageStore,
        max_frames: usize,
    ) -> Self {
        cache.fallback.within(engine.budget());
        Self { engine, images, max_frames, kept: None, cache, cut_at: None, hits: 0, misses: 0 }
    }

    /// From now on rules are taken from those that are kept from run to run.
    pub(crate) const fn keep_rules(&mut self, kept: Option<&'e KeptRules>) {
        self.kept = kept;
    }

    /// What it has found, for the next walker.
    pub(crate) fn into_cache(self) -> WorkerCache {
        self.cache
    }

    /// The words of a stack are read soon that the last walk of a thread read, as far as they are there. Whether any is.
    pub(crate) fn stack_read_soon(&self, thread: u32, sp: u64, stack: &[u8]) -> bool {
        let known = self.cache.stacks.get(thread as usize % STACKS);
        known.is_some_and(|known| known.read_soon(sp, stack))
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

    fn walk_sample(
        &mut self,
        state: &UserState<'_>,
        sampled: impl Iterator<Item = (u32, u64)> + Clone,
        frames: &mut Vec<Frame>,
    ) -> WalkOutcome {
        let Some(arch) = processor(state.arch) else { return EndReason::UnsupportedAbi.into() };
        let first = frames.len();
        let again = sampled.clone();
        let (registers, pc) = initial_registers(state, arch, sampled);
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
        let again = || initial_registers(state, arch, again).0;
        self.complete(outcome, pc, first, again, &context, frames)
    }

    /// Walks from a frame, which has these registers, and appends the frames.
    fn walk_from(
        &mut self,
        start: WalkStart,
        previous: &mut StackCache,
        registers: Registers,
        context: &WalkContext<'_>,
        frames: &mut Vec<Frame>,
    ) -> WalkOutcome {
        if context.arch.word == NARROW {
            self.walk_narrow(start, previous, registers, context, frames)
        } else {
            self.walk_words::<WIDE>(start, previous, registers, context, frames)
        }
    }

    /// Few recordings have processes of 32 bits: their walk is kept out of the way of the others.
    #[cold]
    fn walk_narrow(
        &mut self,
        start: WalkStart,
        previous: &mut StackCache,
        registers: Registers,
        context: &WalkContext<'_>,
        frames: &mut Vec<Frame>,
    ) -> WalkOutcome {
        self.walk_words::<NARROW>(start, previous, registers, context, frames)
    }

    /// The same where words have `WORD` bytes: what differs costs the others nothing.
    fn walk_words<const WORD: u64>(
        &mut self,
        start: WalkStart,
        previous: &mut StackCache,
        mut registers: Registers,
        context: &WalkContext<'_>,
        frames: &mut Vec<Frame>,
    ) -> WalkOutcome {
        let (memory, arch) = (&context.memory, context.arch);
        let space = memory.space;
        let WalkStart { mut lookup, mut is_leaf } = start;
        let mut found_by = FoundBy::Sampled;
        let first = frames.len();
        let max_frames = self.most_frames(context);
        previous.begin_chain();
        // Signal frames that lead to another stack, or to one that is walked already.
        let mut switches = 0;
        let (mut is_guessed, mut has_gap) = (context.mode != Mode::Sample, false);
        let end = loop {
            if !is_leaf {
                let room = max_frames.saturating_sub(frames.len() - first);
                let walk = WalkState { context, registers: &mut registers, frames, room };
                match self.follow::<WORD>(lookup, found_by, previous, walk) {
                    None => {}
                    Some(Followed::End(reason)) => {
                        let chain = chain_of(frames, first);
                        break self
                            .followed_to(reason, is_guessed, previous, chain, context)
                            .into();
                    }
                    Some(Followed::To(next)) => (lookup, found_by) = (next, FoundBy::Cfi),
                }
            }
            let is_first = frames.len() == first;
            let Some((at, mapping)) = self.mapping_of(lookup, is_first, is_leaf, space) else {
                let walk = WalkState { context, registers: &mut registers, frames, room: 0 };
                break end_nowhere::<WORD>(lookup, found_by, first, previous, walk);
            };
            lookup = at;
            if frames.len() - first >= max_frames {
                break EndReason::MaxFrames.into();
            }
            let sp = registers.sp(arch);
            let frame = Frame { sp, ..mapping.frame(lookup, found_by) };
            let svma = Svma(lookup.0.wrapping_sub(mapping.bias));
            let rule = self.rule_in::<WORD>(&mapping, svma, lookup, memory);
            let walk = WalkState { context, registers: &mut registers, frames, room: 1 };
            match self.step_plain::<WORD>(&rule, &frame, is_leaf, previous, walk) {
                None => {}
                Some(PlainStep::CutOff(end)) => break ChainEnd::cut_off_at(end),
                Some(PlainStep::To(next)) => {
                    (lookup, found_by, is_leaf) = (next, FoundBy::Cfi, false);
                    continue;
                }
            }
            // Of a frame without a caller nobody asks for registers.
            if !matches!(rule, Rule::Outermost) {
                previous.catch_up::<WORD>(&mut registers, arch);
            }
            frames.push(frame);
            let place = Uncovered { mapping: &mapping, lookup, svma, is_leaf };
            let step = match self.step::<WORD>(rule, place, &mut registers, context) {
                Ok(step) => step,
                Err(end) => break end,
            };
            is_guessed |= step.remark.is_guess();
            has_gap |= step.remark == Remark::GuessAcrossGap;
            if is_stuck(&step, sp, registers.sp(arch), &mut switches) {
                break EndReason::NoProgress.into();
            }
            settle_last(&step, is_leaf, previous, context, frames);
            let Some(caller) = step.caller else {
                let by = RootBy::of(&rule, &step);
                break self.judge_root(by, is_guessed, chain_of(frames, first), context).into();
            };
            (lookup, found_by, is_leaf) = (caller.lookup(), caller.found_by, caller.exact);
        };
        WalkOutcome { end, is_guessed, has_gap }
    }

    /// Why a walk ends that has followed the previous one to its end.
    fn followed_to(
        &mut self,
        reason: EndReason,
        is_guessed: bool,
        previous: &StackCache,
        chain: &[Frame],
        context: &WalkContext<'_>,
    ) -> EndReason {
        let by = if previous.ends_outermost() { RootBy::Stated } else { RootBy::Zero };
        if reason == EndReason::Root {
            self.judge_root(by, is_guessed, chain, context)
        } else {
            reason
        }
    }

    /// How many frames a walk may have.
    fn most_frames(&self, context: &WalkContext<'_>) -> usize {
        match context.mode {
            Mode::Trial => context.trial_frames.get(),
            Mode::Sample | Mode::BeyondGuess => {
                self.max_frames.min(most_frames(context.memory.stack.len()))
            }
        }
    }

    /// Follows the previous walk from a frame that has called somebody. Frames that were come through count as known.
    #[inline(always)]
    fn follow<const WORD: u64>(
        &mut self,
        lookup: Avma,
        found_by: FoundBy,
        previous: &mut StackCache,
        mut walk: WalkState<'_, '_>,
    ) -> Option<Followed> {
        let before = walk.frames.len();
        let followed = previous.follow::<WORD>(lookup, found_by, &mut walk);
        self.hits += (walk.frames.len() - before) as u64;
        followed
    }

    /// Where a frame is to be looked up, and what is mapped there; of a caller, the code there. `None` where there is
    /// none: the chain went wrong here, or code was never reported. The trampoline of return probes is nobody's caller.
    #[inline(always)]
    fn mapping_of(
        &mut self,
        lookup: Avma,
        is_first: bool,
        is_leaf: bool,
        space: &Space,
    ) -> Option<(Avma, CachedMapping)> {
        let found = self.cache.mappings.lookup(lookup, space, self.images);
        if let Some(mapping) = found.filter(|mapping| is_first || mapping.executable) {
            return Some((lookup, mapping));
        }
        if is_first {
            return None;
        }
        // No call stands before the first byte of a mapping: a handler returns there, to a trampoline.
        let next = lookup.add(1);
        let starts = |mapping: Mapping| mapping.start == next && mapping.executable;
        if is_leaf || !space.lookup(next).is_some_and(starts) || is_trampoline(next, space) {
            return None;
        }
        Some((next, self.cache.mappings.lookup(next, space, self.images)?))
    }

    /// Where the last function of the last walk has its frame (its CFA), if the bytes of the caller are missing.
    pub(crate) const fn cut_at(&self) -> Option<u64> {
        self.cut_at
    }

    /// The limit of the user frames of a sample.
    pub(crate) const fn max_frames(&self) -> usize {
        self.max_frames
    }

    /// The frame of an address that was not walked to.
    pub(crate) fn frame_at(&mut self, lookup: Avma, space: &Space, found_by: FoundBy) -> Frame {
        let found = self.cache.mappings.lookup(lookup, space, self.images);
        found.map_or(Frame::nowhere(lookup, found_by), |mapping| mapping.frame(lookup, found_by))
    }
}

/// Notes what the step from the last frame says of it, and remembers the step.
fn settle_last(
    step: &Step,
    is_leaf: bool,
    previous: &mut StackCache,
    context: &WalkContext<'_>,
    frames: &mut Vec<Frame>,
) {
    let Some(frame) = frames.last_mut() else { return };
    if let (Some(evidence), false) = (&step.evidence, is_leaf) {
        previous.remember(frame, evidence);
    }
    settle(frame, step, is_leaf, context);
    if step.remark == Remark::GuessAcrossGap {
        frames.push(Frame::GAP);
    }
}

/// The frames of a walk, which begin at `first`.
fn chain_of(frames: &[Frame], first: usize) -> &[Frame] {
    frames.get(first..).unwrap_or_default()
}

/// The opened file that is mapped at an address.
fn file_at<'m>(lookup: Avma, memory: &Memory<'m>) -> Option<&'m Arc<LoadedImage>> {
    let mapping = memory.images.mapping_at(lookup, memory.space)?;
    memory.images.image(memory.space.module(&mapping)?).ok()
}
