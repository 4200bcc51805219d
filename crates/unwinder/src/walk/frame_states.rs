//! States of the frames of a walked sample: registers and memory, for readers of variables.
//!
//! The walk itself follows previous stacks and does not restore all registers. A requested register is followed inwards
//! to the callee that saved it. If a rule on the way is not simple, the sample is stepped through again, by call frame
//! information only.

use std::cell::Cell;

use address::{Avma, Svma};
use profile::FoundBy;

use crate::arch::{NARROW, WIDE, processor};
use crate::cache::CachedMapping;
use crate::frame::{Caller, Frame};
use crate::rule::{FrameExtent, Rule, slot_at};
use crate::state::{Registers, WalkContext, WalkMode};
use crate::walk::UserState;
use crate::walk::Walker;
use crate::walk::limits::most_tried;
use crate::walk::start::initial_registers;
use crate::walk::without_cfi::LookedUpFrame;

/// Registers in a frame, and its frame address.
#[derive(Debug)]
struct SavedState {
    registers: Registers,
    cfa: Option<u64>,
}

/// Memory for the states of one sample at a time, and limits on its work.
#[derive(Debug)]
pub struct StateBuffer {
    /// Registers of the first frame.
    sampled: Registers,
    /// Registers in the frame to step out of next.
    stepped: Registers,
    saved: Vec<SavedState>,
    /// Operations of expressions in call frame information.
    steps: Cell<u32>,
    /// Frames of trials.
    trials: Cell<usize>,
}

impl Default for StateBuffer {
    fn default() -> Self {
        Self {
            sampled: Registers::new(),
            stepped: Registers::new(),
            saved: Vec::new(),
            steps: Cell::default(),
            trials: Cell::default(),
        }
    }
}

/// The states of a sample's user frames, by their index from the innermost.
///
/// The walk states stack pointers and frame addresses. Other registers are restored on request.
#[derive(Debug)]
pub struct FrameStates<'s, 'i> {
    walker: &'s mut Walker<'i>,
    context: WalkContext<'s>,
    frames: &'s [Frame],
    /// Index of the first state that is saved.
    first: usize,
    saved: &'s mut Vec<SavedState>,
    /// Index of the frame to step out of.
    next: usize,
    /// Registers in it, after the first step.
    stepped: &'s mut Registers,
    /// Registers of the first frame.
    sampled: &'s Registers,
    /// True if it is the leaf, or was interrupted.
    is_leaf: bool,
    /// True if call frame information does not lead to it.
    is_lost: bool,
}

impl FrameStates<'_, '_> {
    /// Returns true if call frame information leads to a frame.
    #[must_use]
    pub fn leads_to(&self, at: usize) -> bool {
        let callers = self.frames.get(..=at).and_then(|frames| frames.get(1..));
        callers.is_some_and(|callers| callers.iter().all(|it| it.found_by == FoundBy::Cfi))
    }

    /// Returns a register by its DWARF number, as it is in a frame that call frame information leads to. `None` if it is
    /// unknown: in the frame of a caller, registers that a called function may change are.
    pub fn register(&mut self, at: usize, number: u16) -> Option<u64> {
        let arch = self.context.arch;
        let number = u8::try_from(number).ok().filter(|number| *number < arch.columns)?;
        if number == arch.sp {
            return self.frames.get(at)?.sp();
        }
        let WalkContext { memory, .. } = self.context;
        match self.followed(at, number) {
            Some(value) => value,
            None => self.restored(at)?.registers.get(number, &memory).ok(),
        }
    }

    /// Follows a register of a frame inwards, to the nearest callee that saved it or to the sampled registers. Returns
    /// `None` if a rule on the way is not simple; the inner value is `None` if the register is unknown.
    fn followed(&mut self, at: usize, number: u8) -> Option<Option<u64>> {
        let WalkContext { memory, arch, .. } = self.context;
        if arch.word != WIDE || number == arch.return_address || number == arch.pc {
            return None;
        }
        let is_changed = arch.conventions.caller_saved.contains(&number);
        let slot = arch.slots.iter().position(|it| *it == number);
        for callee in (0..at).rev() {
            let (frame, caller) = (self.frames.get(callee)?, self.frames.get(callee + 1)?);
            let (_, _, rule) = self.walker.rule_at(frame.in_process(), &self.context)?;
            let Rule::Simple(rule) = rule else { return None };
            let extent = FrameExtent { sp: frame.sp()?, cfa: caller.sp()? };
            if rule.signal || rule.return_address() == 0 {
                return None;
            }
            // The rule must be the one that led to the caller.
            let pc = memory.read(slot_at::<WIDE>(extent.cfa, rule.return_address())).ok()?;
            if Walker::caller_at(pc, false, arch)?.lookup() != caller.in_process() {
                return None;
            }
            // Only a frame that was interrupted, not called from, has all registers.
            if is_changed {
                return Some(None);
            }
            if let Some(address) = slot.and_then(|slot| rule.slot_of::<WIDE>(slot, extent)) {
                return Some(memory.read(address).ok());
            }
        }
        Some(self.sampled.get(number, &memory).ok())
    }

    /// Returns the canonical frame address of a frame that call frame information leads to, in the process; `None` if
    /// it has no known caller.
    pub fn cfa(&mut self, at: usize) -> Option<u64> {
        match self.frames.get(at + 1) {
            Some(caller) if caller.found_by == FoundBy::Cfi => caller.sp(),
            _ => self.restored(at)?.cfa,
        }
    }

    /// Reads memory at an address of the process: the recorded stack, or files that are mapped there read-only. Returns
    /// the number of bytes from the start of `bytes` that are known.
    #[must_use]
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> usize {
        self.context.memory.read_bytes(address, bytes)
    }

    /// Steps to a frame, and returns its state; `None` if call frame information does not lead to it.
    fn restored(&mut self, at: usize) -> Option<&SavedState> {
        while self.next <= at && !self.is_lost {
            self.step();
        }
        self.saved.get(at.checked_sub(self.first)?)
    }

    /// Steps out of the next frame.
    fn step(&mut self) {
        let Some(frame) = self.frames.get(self.next) else {
            self.is_lost = true;
            return;
        };
        let is_saved = self.next >= self.first;
        if self.next == 0 {
            self.stepped.clone_from(self.sampled);
        }
        if is_saved {
            self.saved.push(SavedState { registers: self.stepped.clone(), cfa: None });
        }
        self.next += 1;
        let Self { walker, context, is_leaf, stepped: registers, .. } = self;
        let caller = walker.step_by_cfi(frame.in_process(), *is_leaf, registers, context);
        if let Some(last) = self.saved.last_mut().filter(|_| is_saved) {
            // The frame address is where the caller's stack begins.
            last.cfa = caller.map(|_| registers.sp(context.arch));
        }
        let Some((caller, next)) = caller.zip(self.frames.get(self.next)) else {
            self.is_lost = true;
            return;
        };
        self.is_lost = caller.lookup() != next.in_process() || next.found_by != FoundBy::Cfi;
        self.is_leaf = caller.exact;
        if !caller.exact {
            let changed = self.context.arch.conventions.caller_saved;
            changed.iter().for_each(|&it| registers.forget(it));
        }
    }
}

impl<'i> Walker<'i> {
    /// Begins the states of the user frames of a walked sample. `frames` are those of the walk, innermost first; the
    /// states from an index on are saved. `None` if the walk began elsewhere.
    pub fn frame_states<'s>(
        &'s mut self,
        state: &UserState<'s>,
        sampled: impl Iterator<Item = (u32, u64)>,
        (frames, first): (&'s [Frame], usize),
        buffer: &'s mut StateBuffer,
    ) -> Option<FrameStates<'s, 'i>>
    where
        'i: 's,
    {
        let arch = processor(state.arch).filter(|_| !state.executed)?;
        let StateBuffer { sampled: first_registers, stepped, saved, steps, trials } = buffer;
        let pc;
        (*first_registers, pc) = initial_registers(state, arch, sampled);
        if pc.map(Avma) != frames.first().map(|frame| frame.in_process()) {
            return None;
        }
        saved.clear();
        trials.set(most_tried(state.stack.len()));
        let memory = state.memory(first_registers, arch, self.images, steps);
        let context = WalkContext { memory, arch, mode: WalkMode::Sample, trial_frames: trials };
        let (next, is_leaf, is_lost) = (0, true, false);
        Some(FrameStates {
            walker: self,
            context,
            frames,
            first,
            saved,
            next,
            stepped,
            sampled: first_registers,
            is_leaf,
            is_lost,
        })
    }

    /// Returns the mapping, the address in its file, and the rule of a looked-up address.
    fn rule_at(
        &mut self,
        lookup: Avma,
        context: &WalkContext<'_>,
    ) -> Option<(CachedMapping, Svma, Rule)> {
        let mapping = self.cache.mappings.lookup(lookup, context.memory.space, self.images)?;
        let svma = Svma(lookup.0.wrapping_sub(mapping.bias));
        let rule = self.rule_of(mapping.file?, svma, lookup, context);
        Some((mapping, svma, rule))
    }

    /// Steps out of a frame; `None` if it has no caller by call frame information.
    fn step_by_cfi(
        &mut self,
        lookup: Avma,
        is_leaf: bool,
        registers: &mut Registers,
        context: &WalkContext<'_>,
    ) -> Option<Caller> {
        let (mapping, svma, rule) = self.rule_at(lookup, context)?;
        let callee = LookedUpFrame { mapping: &mapping, lookup, svma, is_leaf };
        let step = match context.arch.word {
            NARROW => self.step::<NARROW>(rule, callee, registers, context),
            _ => self.step::<WIDE>(rule, callee, registers, context),
        };
        let caller = step.ok()?.caller?;
        (caller.found_by == FoundBy::Cfi).then_some(caller)
    }
}
