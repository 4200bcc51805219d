//! The walk of one sample: from the sampled registers outwards, frame by frame, to the root or to the reason why it
//! is not reached.

use std::sync::Arc;

use address::{Avma, Svma};
use module_map::{Library, LoadedImage, ModuleKind, Piece, Space};
use profile::{EndReason, FoundBy};

use crate::arch::Arch;
use crate::cache::{Followed, KnownRules, RuleKey, Span, Trail, Views, Walk};
use crate::cfi::Scratch;
use crate::engine::Engine;
use crate::fallback::{Fallback, is_cut_off};
use crate::frame::{Caller, Frame};
use crate::rule::{Passed, Rule, RuleKind, step_full, step_packed};
use crate::state::{Memory, Registers};

/// The user part of a sample.
#[derive(Clone, Copy, Debug)]
pub struct UserState<'a> {
    /// The processor.
    pub arch: Arch,
    /// The stack bytes, from the stack pointer up.
    pub stack: &'a [u8],
    /// Whether the stack is big-endian.
    pub big_endian: bool,
    /// The sample was taken in the kernel without full user registers: on x86-64, -1 in rbx and r12 to r15 then means
    /// "not known".
    pub partial_registers: bool,
    /// The address space at the time of the sample.
    pub space: &'a Space,
    /// The thread by any number: samples of one thread, in the order of time, are walked the fastest.
    pub thread: u32,
}

/// How many threads are remembered: more than have samples in between as a rule.
const TRAILS: usize = 8;

/// What walks sample after sample, on one thread.
#[derive(Debug)]
pub struct Walker<'e> {
    engine: &'e Engine,
    library: &'e Library,
    max_frames: usize,
    met: Met,
    /// Steps whose rule was known, and steps whose rule had to be made.
    pub(crate) hits: u64,
    pub(crate) misses: u64,
}

/// What a walker has met, which makes the walks that follow quicker and changes nothing else, and its scratch.
#[derive(Debug)]
pub(crate) struct Met {
    scratch: Scratch,
    fallback: Fallback,
    views: Views,
    rules: KnownRules,
    /// What the threads walked last, by their numbers, as far as they do not collide.
    trails: [Trail; TRAILS],
}

impl Met {
    /// Nothing.
    pub(crate) fn new() -> Self {
        Self {
            scratch: Scratch::new(),
            fallback: Fallback::default(),
            views: Views::default(),
            rules: KnownRules::default(),
            trails: Default::default(),
        }
    }
}

impl<'e> Walker<'e> {
    /// A walker that emits at most `max_frames` user frames a sample.
    #[must_use]
    pub fn new(engine: &'e Engine, library: &'e Library, max_frames: usize) -> Self {
        Self::that_met(Met::new(), engine, library, max_frames)
    }

    /// A walker that goes on from where another one of the same replay stopped.
    pub(crate) fn that_met(
        met: Met,
        engine: &'e Engine,
        library: &'e Library,
        max_frames: usize,
    ) -> Self {
        Self { engine, library, max_frames, met, hits: 0, misses: 0 }
    }

    /// What it has met, for the next walker.
    pub(crate) fn into_met(self) -> Met {
        self.met
    }

    /// Walks the user stack of a sample and appends its frames, innermost first. `sampled` gives the registers as (bit
    /// of the recorder's mask, value).
    pub fn walk(
        &mut self,
        state: &UserState<'_>,
        sampled: impl Iterator<Item = (u32, u64)>,
        frames: &mut Vec<Frame>,
    ) -> EndReason {
        let arch = state.arch;
        let (registers, pc) = initial_registers(state, sampled);
        let Some(pc) = pc else { return EndReason::NoUserRegs };
        let memory = Memory {
            stack: state.stack,
            stack_start: registers.sp(arch),
            big_endian: state.big_endian,
            space: state.space,
            library: self.library,
        };
        let at = state.thread as usize % TRAILS;
        let mut trail = std::mem::take(&mut self.met.trails[at]);
        trail.begin(state.space.version());
        let reason = self.walk_from(Avma(pc), &mut trail, registers, &memory, arch, frames);
        trail.end();
        self.met.trails[at] = trail;
        reason
    }

    fn walk_from(
        &mut self,
        pc: Avma,
        trail: &mut Trail,
        mut registers: Registers,
        memory: &Memory<'_>,
        arch: Arch,
        frames: &mut Vec<Frame>,
    ) -> EndReason {
        let space = memory.space;
        let mut lookup = pc;
        let mut found_by = FoundBy::Sampled;
        // Called nobody yet that could still be running: sampled there, or interrupted there by a signal.
        let mut is_leaf = true;
        let first = frames.len();
        loop {
            if !is_leaf {
                let before = frames.len();
                let room = (first + self.max_frames).saturating_sub(before);
                let mut walk = Walk { arch, registers: &mut registers, memory, frames, room };
                let followed = trail.follow(lookup, found_by, &mut walk);
                self.hits += (frames.len() - before) as u64;
                match followed {
                    None => {}
                    Some(Followed::End(reason)) => return reason,
                    Some(Followed::To(next)) => (lookup, found_by) = (next, FoundBy::Cfi),
                }
            }
            let span = if frames.len() == first {
                let Some(span) = self.met.views.span(lookup, space, self.library) else {
                    frames.push(Frame::nowhere(lookup, found_by));
                    return EndReason::NotMapped;
                };
                span
            } else {
                let Some((at, span)) = self.caller_span(lookup, is_leaf, space) else {
                    return EndReason::NotMapped;
                };
                lookup = at;
                span
            };
            if frames.len() - first >= self.max_frames {
                return EndReason::MaxFrames;
            }
            let frame = span.frame(lookup, found_by);
            frames.push(frame);
            let sp = registers.sp(arch);
            let caller = match self.step(&span, lookup, is_leaf, &mut registers, memory, arch) {
                Ok(caller) => caller,
                Err(reason) => return reason,
            };
            if let (Some((rule, passed)), false) = (caller.passed, is_leaf) {
                trail.made(&frame, sp, rule, &passed);
            }
            if caller.pc == 0 {
                return EndReason::Root;
            }
            lookup = if caller.exact { Avma(caller.pc) } else { Avma(caller.pc).sub(1) };
            found_by = caller.found_by;
            is_leaf = caller.exact;
        }
    }

    /// Where a caller is to be looked up, and the code there. `None` where there is none: the chain went wrong here, or
    /// code was never reported.
    #[inline]
    fn caller_span(&mut self, lookup: Avma, is_leaf: bool, space: &Space) -> Option<(Avma, Span)> {
        let found = self.met.views.span(lookup, space, self.library);
        if let Some(span) = found.filter(|span| span.executable) {
            return Some((lookup, span));
        }
        // No call stands before the first byte of a mapping: a handler returns there, to a trampoline.
        let next = lookup.add(1);
        let starts = |piece: &Piece| piece.start == next && piece.executable;
        if is_leaf || !space.lookup(next).is_some_and(starts) {
            return None;
        }
        Some((next, self.met.views.span(next, space, self.library)?))
    }

    /// The frame of an address that was not walked to.
    pub(crate) fn frame_at(&mut self, lookup: Avma, space: &Space, found_by: FoundBy) -> Frame {
        let span = self.met.views.span(lookup, space, self.library);
        span.map_or(Frame::nowhere(lookup, found_by), |span| span.frame(lookup, found_by))
    }

    #[inline]
    fn step(
        &mut self,
        span: &Span,
        lookup: Avma,
        is_leaf: bool,
        registers: &mut Registers,
        memory: &Memory<'_>,
        arch: Arch,
    ) -> Result<Caller, EndReason> {
        let svma = Svma(lookup.0.wrapping_sub(span.bias));
        let rule = match span.file {
            Some(file) => self.rule(file, svma, lookup, memory),
            None => Rule::plain(RuleKind::None),
        };
        let sp = registers.sp(arch);
        let mut passed = None;
        let pc = match rule.kind() {
            RuleKind::Packed => {
                let it = step_packed(&rule, registers, memory, arch)?;
                // What can be followed by what is on the stack.
                let by_stack =
                    rule.return_address() != 0 && rule.cfa_register() != arch.return_address();
                passed = (by_stack && !rule.is_signal()).then_some((rule, it));
                it.return_address
            }
            RuleKind::Complex => {
                let row = self.engine.row(&rule).ok_or(EndReason::BadUnwindInfo)?;
                step_full(&row, registers, memory, arch)?
            }
            RuleKind::Outermost => {
                let passed = Some((rule, Passed::default()));
                return Ok(Caller { pc: 0, exact: false, found_by: FoundBy::Cfi, passed });
            }
            kind @ (RuleKind::None | RuleKind::Bad) => {
                let file = span.file.and_then(|_| file_at(lookup, memory)).map(|file| (file, svma));
                let caller = self.met.fallback.step(file, is_leaf, registers, memory, arch);
                return caller.ok_or_else(|| match reason_without_rule(kind, span) {
                    EndReason::NoUnwindInfo | EndReason::AnonymousMemory
                        if is_cut_off(registers, memory, arch) =>
                    {
                        EndReason::StackExhausted
                    }
                    reason => reason,
                });
            }
        };
        let moved = registers.sp(arch);
        // A leaf can have its return address in a register and an empty frame: on aarch64 as a rule, on x86-64 in
        // vfork.
        let advanced = moved > sp || (is_leaf && moved == sp);
        if !advanced && !rule.is_signal() {
            return Err(EndReason::NoProgress);
        }
        Ok(Caller { pc: arch.strip(pc), exact: rule.is_signal(), found_by: FoundBy::Cfi, passed })
    }

    /// The rule of an address of a file: from the cache, or made now.
    #[inline]
    fn rule(&mut self, file: u32, svma: Svma, lookup: Avma, memory: &Memory<'_>) -> Rule {
        let known = &mut self.met.rules;
        if let Some(rule) = RuleKey::new(file, svma).and_then(|key| self.engine.cached(key, known))
        {
            self.hits += 1;
            return rule;
        }
        self.misses += 1;
        match file_at(lookup, memory) {
            Some(file) => self.engine.make_rule(file, svma, memory.library, &mut self.met.scratch),
            None => Rule::plain(RuleKind::None),
        }
    }
}

/// The opened file that is mapped at an address.
fn file_at<'m>(lookup: Avma, memory: &Memory<'m>) -> Option<&'m Arc<LoadedImage>> {
    memory.space.module(memory.space.lookup(lookup)?)?.file(memory.library).ok()
}

/// Why a chain ends where no rule is to be had and no fallback worked.
const fn reason_without_rule(kind: RuleKind, span: &Span) -> EndReason {
    match (kind, span.file, span.kind) {
        (RuleKind::Bad, ..) => EndReason::BadUnwindInfo,
        (_, Some(_), _) => EndReason::NoUnwindInfo,
        (_, None, ModuleKind::Anonymous | ModuleKind::Unopened) => EndReason::AnonymousMemory,
        (_, None, _) => EndReason::NoModule,
    }
}

/// The sampled registers by DWARF number, and the program counter.
fn initial_registers(
    state: &UserState<'_>,
    sampled: impl Iterator<Item = (u32, u64)>,
) -> (Registers, Option<u64>) {
    let mut registers = Registers::new();
    let numbers = state.arch.of_mask_bits();
    for (bit, value) in sampled {
        if let Some(&number) = numbers.get(bit as usize) {
            // What has no number is beyond all registers.
            registers.set(number, value);
        }
    }
    if state.partial_registers {
        for &number in state.arch.may_be_unknown() {
            if registers.value(number) == Some(u64::MAX) {
                registers.forget(number);
            }
        }
    }
    let pc = registers.value(state.arch.pc());
    (registers, pc)
}
