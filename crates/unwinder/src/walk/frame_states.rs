//! States of the frames of a walked sample: registers and memory, for readers of variables.
//!
//! The walk itself follows previous stacks and does not restore all registers. So the few samples with a wanted frame
//! are stepped through again, by call frame information only.

use std::cell::Cell;

use address::{Avma, Svma};
use profile::FoundBy;

use crate::arch::{NARROW, Processor, WIDE, processor};
use crate::frame::{Caller, Frame};
use crate::state::{Registers, SampleMemory, WalkContext, WalkMode};
use crate::walk::UserState;
use crate::walk::Walker;
use crate::walk::limits::most_tried;
use crate::walk::start::initial_registers;
use crate::walk::without_cfi::LookedUpFrame;

/// Registers, memory and frame address of a frame.
#[derive(Debug)]
pub struct FrameState<'w> {
    registers: Registers,
    memory: SampleMemory<'w>,
    arch: Processor,
    cfa: Option<u64>,
}

impl FrameState<'_> {
    /// Returns a register by its DWARF number, as it is in the frame. `None` if it is unknown: in the frame of a caller,
    /// registers that a called function may change are.
    #[must_use]
    pub fn register(&self, number: u16) -> Option<u64> {
        let number = u8::try_from(number).ok().filter(|number| *number < self.arch.columns)?;
        self.registers.get(number, &self.memory).ok()
    }

    /// The canonical frame address, in the process; `None` if the frame has no known caller.
    #[must_use]
    pub const fn cfa(&self) -> Option<u64> {
        self.cfa
    }

    /// Reads memory at an address of the process: the recorded stack, or files that are mapped there read-only. Returns
    /// the number of bytes from the start of `bytes` that are known.
    #[must_use]
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> usize {
        self.memory.read_bytes(address, bytes)
    }
}

impl Walker<'_> {
    /// Returns the states of the first user frames of a walked sample, innermost first: at most `count`, as far as call
    /// frame information leads. `frames` are those of the walk; `steps` counts the operations of expressions.
    pub fn frame_states<'w>(
        &'w mut self,
        state: &UserState<'w>,
        sampled: impl Iterator<Item = (u32, u64)>,
        frames: &[Frame],
        (count, steps): (usize, &'w Cell<u32>),
    ) -> Vec<FrameState<'w>> {
        let mut states = Vec::new();
        let Some(arch) = processor(state.arch).filter(|_| !state.executed) else { return states };
        let (mut registers, pc) = initial_registers(state, arch, sampled);
        let memory = state.memory(&registers, arch, self.images, steps);
        let trial_frames = &Cell::new(most_tried(state.stack.len()));
        let context = WalkContext { memory, arch, mode: WalkMode::Sample, trial_frames };
        let first = frames.first().map(|frame| frame.in_process());
        if pc.map(Avma) != first {
            return states;
        }
        let mut is_leaf = true;
        for (at, frame) in frames.iter().enumerate().take(count) {
            let before = registers.clone();
            let lookup = frame.in_process();
            let caller = self.step_by_cfi(lookup, is_leaf, &mut registers, &context);
            // The frame address is where the caller's stack begins.
            let cfa = caller.map(|_| registers.sp(arch));
            states.push(FrameState { registers: before, memory, arch, cfa });
            let Some((caller, next)) = caller.zip(frames.get(at + 1)) else { break };
            let is_next = caller.lookup() == next.in_process() && next.found_by == FoundBy::Cfi;
            if !is_next {
                break;
            }
            if !caller.exact {
                arch.conventions.caller_saved.iter().for_each(|&it| registers.forget(it));
            }
            is_leaf = caller.exact;
        }
        states
    }

    /// Steps out of a frame; `None` if it has no caller by call frame information.
    fn step_by_cfi(
        &mut self,
        lookup: Avma,
        is_leaf: bool,
        registers: &mut Registers,
        context: &WalkContext<'_>,
    ) -> Option<Caller> {
        let mapping = self.cache.mappings.lookup(lookup, context.memory.space, self.images)?;
        let svma = Svma(lookup.0.wrapping_sub(mapping.bias));
        let rule = self.rule_of(mapping.file?, svma, lookup, context);
        let callee = LookedUpFrame { mapping: &mapping, lookup, svma, is_leaf };
        let step = match context.arch.word {
            NARROW => self.step::<NARROW>(rule, callee, registers, context),
            _ => self.step::<WIDE>(rule, callee, registers, context),
        };
        let caller = step.ok()?.caller?;
        (caller.found_by == FoundBy::Cfi).then_some(caller)
    }
}
