//! The loop of a walk: from one frame to its caller, to the end of the chain.

use address::{Avma, Svma};
use module_map::{Mapping, Space};
use profile::{EndReason, FoundBy};

use crate::arch::{NARROW, WIDE};
use crate::cache::{CachedMapping, Followed, StackCache, WalkState};
use crate::frame::{Frame, Remark, Step};
use crate::rule::Rule;
use crate::state::{Registers, WalkContext, WalkMode};
use crate::walk::Walker;
use crate::walk::callee::note_facts;
use crate::walk::limits::{is_stuck, most_frames};
use crate::walk::outcome::{ChainEnd, WalkOutcome};
use crate::walk::proof::RootEvidence;
use crate::walk::return_probe::{end_nowhere, is_trampoline};
use crate::walk::simple_step::SimpleStep;
use crate::walk::start::WalkStart;
use crate::walk::without_cfi::LookedUpFrame;

impl Walker<'_> {
    /// Walks from a frame with these registers and appends the frames.
    pub(super) fn walk_from(
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

    /// Walks a 32-bit process. Few recordings have them, so this code is cold.
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

    /// Walks with words of `WORD` bytes, as a compile-time constant: the other width costs nothing.
    fn walk_words<const WORD: u64>(
        &mut self,
        start: WalkStart,
        previous: &mut StackCache,
        mut registers: Registers,
        context: &WalkContext<'_>,
        frames: &mut Vec<Frame>,
    ) -> WalkOutcome {
        let (memory, arch) = (&context.memory, context.arch);
        let WalkStart { mut lookup, mut is_leaf } = start;
        let mut found_by = FoundBy::Sampled;
        let first = frames.len();
        let max_frames = self.most_frames(context);
        // Signal frames that lead to another stack, or to one that was already walked.
        let mut switches = 0;
        let (mut is_guessed, mut has_gap) = (context.mode != WalkMode::Sample, false);
        let end = loop {
            if !is_leaf {
                let capacity = max_frames.saturating_sub(frames.len() - first);
                let walk = WalkState { context, registers: &mut registers, frames, capacity };
                match self.follow::<WORD>(lookup, found_by, previous, walk) {
                    None => {}
                    Some(Followed::End(reason)) => {
                        let chain = chain_of(frames, first);
                        break self.followed_to(reason, is_guessed, previous, chain, context);
                    }
                    Some(Followed::To(next)) => (lookup, found_by) = (next, FoundBy::Cfi),
                }
            }
            let is_first = frames.len() == first;
            let Some((at, mapping)) = self.mapping_of(lookup, is_first, is_leaf, memory.space)
            else {
                let walk = WalkState { context, registers: &mut registers, frames, capacity: 0 };
                break end_nowhere::<WORD>(lookup, found_by, first, walk);
            };
            lookup = at;
            if frames.len() - first >= max_frames {
                break EndReason::MaxFrames.into();
            }
            let sp = registers.sp(arch);
            let frame = Frame { sp, ..mapping.frame(lookup, found_by) };
            let svma = Svma(lookup.0.wrapping_sub(mapping.bias));
            let rule = self.rule_in::<WORD>(&mapping, svma, lookup, memory);
            let walk = WalkState { context, registers: &mut registers, frames, capacity: 1 };
            match self.simple_step::<WORD>(&rule, &frame, is_leaf, previous, walk) {
                None => {}
                Some(SimpleStep::Truncated(end)) => break ChainEnd::truncated_at(end),
                Some(SimpleStep::To(next)) => {
                    (lookup, found_by, is_leaf) = (next, FoundBy::Cfi, false);
                    continue;
                }
            }
            let callee = LookedUpFrame { mapping: &mapping, lookup, svma, is_leaf };
            let walk = WalkState { context, registers: &mut registers, frames, capacity: 1 };
            let step = self.step_on::<WORD>(rule, callee, frame, previous, walk, &mut switches);
            let step = match step {
                Ok(step) => step,
                Err(end) => break end,
            };
            is_guessed |= step.remark.is_guess();
            has_gap |= step.remark == Remark::GuessAcrossGap;
            let Some(caller) = step.caller else {
                let by = RootEvidence::of(&rule, &step);
                break self.judge_root(by, is_guessed, chain_of(frames, first), context).into();
            };
            (lookup, found_by, is_leaf) = (caller.lookup(), caller.found_by, caller.exact);
        };
        WalkOutcome { end, is_guessed, has_gap }
    }

    /// Adds a frame and steps out of it by any rule.
    ///
    /// # Errors
    /// The end of the chain, if the frame has no known caller.
    fn step_on<const WORD: u64>(
        &mut self,
        rule: Rule,
        callee: LookedUpFrame<'_>,
        frame: Frame,
        previous: &mut StackCache,
        walk: WalkState<'_, '_>,
        switches: &mut u32,
    ) -> Result<Step, ChainEnd> {
        let WalkState { context, registers, frames, .. } = walk;
        frames.push(frame);
        let is_leaf = callee.is_leaf;
        let step = self.step::<WORD>(rule, callee, registers, context)?;
        if is_stuck(&step, frame.sp, registers.sp(context.arch), switches) {
            return Err(EndReason::NoProgress.into());
        }
        finish_step(&step, is_leaf, previous, context, frames);
        Ok(step)
    }

    /// Returns the end of a walk that followed the previous one to its end.
    fn followed_to(
        &mut self,
        reason: EndReason,
        is_guessed: bool,
        previous: &StackCache,
        chain: &[Frame],
        context: &WalkContext<'_>,
    ) -> ChainEnd {
        let by = if previous.ends_outermost() { RootEvidence::Stated } else { RootEvidence::Zero };
        match reason {
            EndReason::Root => self.judge_root(by, is_guessed, chain, context).into(),
            reason => reason.into(),
        }
    }

    /// Returns the maximum number of frames of a walk.
    fn most_frames(&self, context: &WalkContext<'_>) -> usize {
        match context.mode {
            WalkMode::Trial => context.trial_frames.get(),
            WalkMode::Sample | WalkMode::BeyondGuess => {
                self.max_frames.min(most_frames(context.memory.stack.len()))
            }
        }
    }

    /// Follows the previous walk from a frame that is not a leaf. Frames that are passed count as cache hits.
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

    /// Returns the lookup address of a frame, and the mapping there. A caller must be in code. `None` if there is no
    /// such mapping: the chain is wrong, or the mapping was never reported. The trampoline of return probes is not a
    /// caller.
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
        // No call precedes the first byte of a mapping: a signal handler returns to a trampoline there.
        let next = lookup.add(1);
        let starts = |mapping: Mapping| mapping.start == next && mapping.executable;
        if is_leaf || !space.lookup(next).is_some_and(starts) || is_trampoline(next, space) {
            return None;
        }
        Some((next, self.cache.mappings.lookup(next, space, self.images)?))
    }
}

/// Stores the step from the last frame, and records in the frame the facts that it shows.
fn finish_step(
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
    note_facts(frame, step, is_leaf, context);
    if step.remark == Remark::GuessAcrossGap {
        frames.push(Frame::GAP);
    }
}

/// Returns the frames of a walk, which begin at `first`.
fn chain_of(frames: &[Frame], first: usize) -> &[Frame] {
    frames.get(first..).unwrap_or_default()
}
