//! Control flow: the successors of each instruction. The x86 family is decoded here, the others by a function of each
//! processor.

mod common;
mod register_contents;
#[cfg(test)]
mod tests;
mod words;
mod x86;

use std::fmt;

use crate::arch::{Arch, Processor, processor};
pub(super) use register_contents::{
    RegisterContents, RegisterValue, first_word, half_word, signed,
};
pub(super) use words::DecodedFlow;

/// The successors of an instruction. Addresses are those that the file states; those of Thumb code have their lowest
/// bit set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// The next instruction.
    Next,
    /// The next instruction, or that address.
    Branch(u64),
    /// That address.
    Jump(u64),
    /// The code at the address in the word there.
    JumpSlot(u64),
    /// Code at an address in a register or a computed word: another function, or a case of a switch.
    JumpIndirect,
    /// The next instruction, after the function there returns.
    Call(u64),
    /// The next instruction, after the function at the address in the word there returns.
    CallSlot(u64),
    /// The next instruction, after a function at an address in a register or a computed word returns.
    CallIndirect,
    /// The caller.
    Return,
    /// None: a trap, or bytes that are not an instruction.
    Stop,
}

/// An instruction. Addresses are those that the file states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowStep {
    /// Its address.
    pub at: u64,
    /// Address of the next one in memory.
    pub next: u64,
    /// Its successors.
    pub flow: Flow,
}

/// A run of instructions that were skipped.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SkippedRun {
    /// Number of instructions.
    pub n_instructions: usize,
    /// Address of the last one as the file states it, if the next instruction is a successor.
    pub continues_at: Option<u64>,
}

/// Decodes the instruction at the start of code. Its address has the lowest bit set for Thumb; the last argument counts
/// the next instructions that an IT of Thumb makes conditional.
pub(super) type StepFn = fn(&[u8], u64, &mut RegisterContents, &mut u8) -> Option<DecodedFlow>;

/// The kind of decoder for a processor's instructions.
#[derive(Clone, Copy)]
pub(super) enum FlowForm {
    /// The x86 family, by bytes.
    X86,
    /// Whole words or half words, each by this function.
    Words(StepFn),
}

/// Decodes consecutive instructions in memory order.
pub struct FlowDecoder<'a> {
    of_processor: DecoderForm<'a>,
}

enum DecoderForm<'a> {
    X86(x86::X86Instructions<'a>),
    Words(words::WordInstructions<'a>),
}

impl fmt::Debug for FlowDecoder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowDecoder").finish_non_exhaustive()
    }
}

impl<'a> FlowDecoder<'a> {
    /// Creates a decoder of code that begins at an address which the file states. `None` if code of the processor
    /// cannot be decoded.
    #[must_use]
    pub fn of_arch(arch: Arch, code: &'a [u8], at: u64) -> Option<Self> {
        Self::new(processor(arch)?, code, at)
    }

    /// Creates the decoder from a processor's descriptor.
    pub(crate) fn new(arch: Processor, code: &'a [u8], at: u64) -> Option<Self> {
        let of_processor = match arch.flow? {
            FlowForm::X86 => DecoderForm::X86(x86::X86Instructions::new(arch, code, at)),
            FlowForm::Words(step) => {
                DecoderForm::Words(words::WordInstructions::new(arch, step, code, at))
            }
        };
        Some(Self { of_processor })
    }

    /// Sets the address of the table of contents, as the file states it. Code of POWER has it in r2, and slots are
    /// counted from there.
    #[must_use]
    pub fn with_table_of_contents(mut self, address: Option<u64>) -> Self {
        if let DecoderForm::Words(instructions) = &mut self.of_processor {
            instructions.set_table_of_contents(address);
        }
        self
    }

    /// Returns the flow of a jump to the contents of a register, if the instructions so far state a target: an address
    /// or a word. Registers have the numbers of instructions. `None` on x86.
    pub(crate) fn leads_to(&self, register: u32) -> Option<Flow> {
        match &self.of_processor {
            DecoderForm::X86(_) => None,
            DecoderForm::Words(instructions) => {
                Some(instructions.leads_to(register)).filter(|flow| *flow != Flow::JumpIndirect)
            }
        }
    }

    /// Skips instructions that stay within a range of code or call code outside it, if a quick check shows that. The
    /// range has addresses that the file states.
    #[inline(never)] // A loop: callers in other crates could not inline its parts.
    pub fn skip_within(&mut self, start: u64, end: u64) -> SkippedRun {
        match &mut self.of_processor {
            DecoderForm::X86(instructions) => instructions.skip_within(start, end),
            DecoderForm::Words(_) => SkippedRun::default(),
        }
    }
}

impl Iterator for FlowDecoder<'_> {
    type Item = FlowStep;

    /// Returns the next instruction; `None` at the end of the code.
    #[inline]
    fn next(&mut self) -> Option<FlowStep> {
        match &mut self.of_processor {
            DecoderForm::X86(instructions) => instructions.next(),
            DecoderForm::Words(instructions) => instructions.next(),
        }
    }
}
