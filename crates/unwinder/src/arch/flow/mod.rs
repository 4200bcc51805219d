//! The flow of control of instructions: where each one can go on. Those of the x86 family are decoded here, those of others
//! by a function of each processor.

mod common;
mod known;
#[cfg(test)]
mod tests;
mod words;
mod x86;

use std::fmt;

use crate::arch::{Arch, Processor, processor};
pub(super) use known::{Held, Known, first_word, half_word, signed};
pub(super) use words::Decoded;

/// Where an instruction goes on. Addresses are those that the file states; those of Thumb code have their lowest bit set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// At the next instruction.
    Next,
    /// At the next instruction, or there.
    Branch(u64),
    /// There.
    Jump(u64),
    /// In the code whose address is the word there.
    JumpSlot(u64),
    /// In code whose address a register or a computed word has: another function, or a case of a switch.
    JumpIndirect,
    /// At the next instruction, once the function there returns.
    Call(u64),
    /// At the next instruction, once the function whose address is the word there returns.
    CallSlot(u64),
    /// At the next instruction, once a function returns whose address a register or a computed word has.
    CallIndirect,
    /// In the caller.
    Return,
    /// Nowhere: a trap, or bytes that are no instruction.
    Stop,
}

/// An instruction. Addresses are those that the file states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowStep {
    /// Where it is.
    pub at: u64,
    /// The address of the next one in memory.
    pub next: u64,
    /// The ways that it can go on.
    pub flow: Flow,
}

/// Instructions that were passed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Passed {
    /// How many.
    pub n_instructions: usize,
    /// The address of the last one, which the file states, if it can go on behind itself.
    pub goes_on: Option<u64>,
}

/// Decodes the instruction that code begins with. Its address has the lowest bit set if it is one of Thumb; the last argument
/// counts the next instructions that an IT of Thumb makes conditional.
pub(super) type StepFn = fn(&[u8], u64, &mut Known, &mut u8) -> Option<Decoded>;

/// How the instructions of a processor are decoded.
#[derive(Clone, Copy)]
pub(super) enum FlowForm {
    /// Those of the x86 family, in bytes.
    X86,
    /// Whole words or half words, each by this function.
    Words(StepFn),
}

/// Decodes instructions one after another, as they stand in memory.
pub struct FlowDecoder<'a> {
    of_processor: OfProcessor<'a>,
}

enum OfProcessor<'a> {
    X86(x86::Instructions<'a>),
    Words(words::Instructions<'a>),
}

impl fmt::Debug for FlowDecoder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowDecoder").finish_non_exhaustive()
    }
}

impl<'a> FlowDecoder<'a> {
    /// A decoder of code that begins at an address which the file states. `None` if code of the processor cannot be decoded.
    #[must_use]
    pub fn of_arch(arch: Arch, code: &'a [u8], at: u64) -> Option<Self> {
        Self::new(processor(arch)?, code, at)
    }

    /// The same of a processor whose descriptor is known.
    pub(crate) fn new(arch: Processor, code: &'a [u8], at: u64) -> Option<Self> {
        let of_processor = match arch.flow? {
            FlowForm::X86 => OfProcessor::X86(x86::Instructions::new(arch, code, at)),
            FlowForm::Words(step) => {
                OfProcessor::Words(words::Instructions::new(arch, step, code, at))
            }
        };
        Some(Self { of_processor })
    }

    /// States the address of the table of contents, which r2 has in code of POWER: slots are counted from there. It is one
    /// that the file states.
    #[must_use]
    pub fn with_table_of_contents(mut self, address: Option<u64>) -> Self {
        if let OfProcessor::Words(instructions) = &mut self.of_processor {
            instructions.set_table_of_contents(address);
        }
        self
    }

    /// Returns where a jump to the contents of a register would lead, if the instructions so far stated that: a jump to an
    /// address or through a word. Registers have the numbers of instructions. Not known on x86.
    pub(crate) fn leads_to(&self, register: u32) -> Option<Flow> {
        match &self.of_processor {
            OfProcessor::X86(_) => None,
            OfProcessor::Words(instructions) => {
                Some(instructions.leads_to(register)).filter(|flow| *flow != Flow::JumpIndirect)
            }
        }
    }

    /// Passes instructions that go on within a range of code or call code outside of it, if that is quickly seen. The range is
    /// one of addresses that the file states.
    #[inline(never)] // It is a loop, and callers in other crates would not have its parts inlined.
    pub fn pass_within(&mut self, start: u64, end: u64) -> Passed {
        match &mut self.of_processor {
            OfProcessor::X86(instructions) => instructions.pass_within(start, end),
            OfProcessor::Words(_) => Passed::default(),
        }
    }
}

impl Iterator for FlowDecoder<'_> {
    type Item = FlowStep;

    /// The next instruction; `None` at the end of the code.
    #[inline]
    fn next(&mut self) -> Option<FlowStep> {
        match &mut self.of_processor {
            OfProcessor::X86(instructions) => instructions.next(),
            OfProcessor::Words(instructions) => instructions.next(),
        }
    }
}
