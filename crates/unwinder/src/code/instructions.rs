//! Consecutive instructions of a function, with their effect on a path: a common interface for x86 and processors with
//! a link register.

use iced_x86::{Decoder, Instruction, InstructionInfoFactory};

use crate::arch::{Flow, FlowDecoder, FlowStep, JumpTable, MemoryWords, PathState};
use crate::code::bytes::CodeBytes;
use crate::code::effect;

/// The successors of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Successor {
    /// The next instruction.
    Next,
    /// The next instruction, if the called function returns; the function's address, if that is stated.
    Call(Option<u64>),
    /// The next instruction, or that address.
    Branch(u64),
    /// That address.
    Jump(u64),
    /// One of several addresses.
    Switch(JumpTable),
    /// Elsewhere, or none.
    Away,
}

/// Instructions from an address to the end of its segment.
pub(super) struct PathInstructions<'a> {
    of_processor: InstructionSource<'a>,
    /// True if the link register still has the value that the last call left there.
    has_call: bool,
}

enum InstructionSource<'a> {
    X86 { decoder: Decoder<'a>, instruction: Instruction },
    Others { decoder: FlowDecoder<'a>, step: FlowStep, rest: &'a [u8], bytes: &'a [u8] },
}

impl<'a> PathInstructions<'a> {
    /// Creates the instructions from an address, which has its lowest bit set for Thumb code. `is_after_call`: the
    /// path comes from a call directly before it.
    pub(super) fn new(code: CodeBytes<'a>, at: u64, is_after_call: bool) -> Option<Self> {
        let of_processor = if code.arch.is_x86() {
            let instruction = Instruction::default();
            InstructionSource::X86 { decoder: code.decoder(at)?, instruction }
        } else {
            let rest = code.from(code.arch.code_address(at))?;
            let step = FlowStep { at, next: at, flow: Flow::Stop };
            let decoder = FlowDecoder::new(code.arch, rest, at)?;
            InstructionSource::Others { decoder, step, rest, bytes: rest }
        };
        Some(Self { of_processor, has_call: is_after_call })
    }

    /// Decodes the next instruction. Returns its address and the address after it.
    pub(super) fn decode(&mut self) -> Option<(u64, u64)> {
        match &mut self.of_processor {
            InstructionSource::X86 { decoder, instruction } => {
                if !decoder.can_decode() {
                    return None;
                }
                decoder.decode_out(instruction);
                Some((instruction.ip(), instruction.next_ip()))
            }
            InstructionSource::Others { decoder, step, rest, bytes } => {
                *step = decoder.next()?;
                *bytes = rest;
                let len = usize::try_from(step.next.wrapping_sub(step.at)).ok()?;
                *rest = rest.get(len..).unwrap_or_default();
                Some((step.at, step.next))
            }
        }
    }

    /// Runs the last decoded instruction.
    pub(super) fn run(
        &mut self,
        state: &mut PathState,
        words: &mut MemoryWords,
        factory: &mut InstructionInfoFactory,
    ) -> Successor {
        match &self.of_processor {
            InstructionSource::X86 { instruction, .. } => {
                match effect::run(instruction, state, words, factory) {
                    effect::X86Successor::Next => Successor::Next,
                    effect::X86Successor::Call => {
                        Successor::Call(Some(instruction.near_branch_target()))
                    }
                    effect::X86Successor::Branch(target) => Successor::Branch(target),
                    effect::X86Successor::Jump(target) => Successor::Jump(target),
                    effect::X86Successor::Switch(table) => Successor::Switch(table),
                    _ => Successor::Away,
                }
            }
            InstructionSource::Others { step, bytes, .. } => {
                let called = match step.flow {
                    Flow::Next => {
                        let link = state.arch.run(bytes, step.at, state, words);
                        // A new function begins here: the path continued after a call that does not return.
                        if self.has_call && link.is_saved {
                            return Successor::Away;
                        }
                        self.has_call &= !link.is_written;
                        return Successor::Next;
                    }
                    Flow::Branch(target) => return Successor::Branch(target),
                    Flow::Jump(target) => return Successor::Jump(target),
                    Flow::Call(target) => Some(target),
                    Flow::CallSlot(_) | Flow::CallIndirect => None,
                    Flow::Return | Flow::JumpSlot(_) | Flow::JumpIndirect | Flow::Stop => {
                        return Successor::Away;
                    }
                };
                state.forget_changed();
                self.has_call = true;
                Successor::Call(called)
            }
        }
    }

    /// Returns true if the link register has the value of a call that need not have returned.
    pub(super) const fn has_call(&self) -> bool {
        self.has_call
    }
}
