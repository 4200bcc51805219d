//! The flow of control of instructions: where each one can go on. Those of the x86 family are decoded here, those of others
//! by a function of each processor.

mod common;
mod known;
#[cfg(test)]
mod tests;
mod words;
mod x86;

use crate::arch::Processor;
pub(super) use known::{Held, Known, first_word, half_word, signed};
pub(super) use words::Decoded;

/// Where an instruction goes on. Addresses are those that the file states; those of Thumb code have their lowest bit set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
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

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    /// Where it is.
    pub(crate) at: u64,
    /// Where the next one is.
    pub(crate) next: u64,
    pub(crate) flow: Flow,
}

/// Instructions that were passed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Passed {
    pub(crate) n_instructions: usize,
    /// The address of the last one, if it can go on behind itself.
    pub(crate) goes_on: Option<u64>,
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
pub(crate) struct FlowDecoder<'a> {
    of_processor: OfProcessor<'a>,
}

enum OfProcessor<'a> {
    X86(x86::Instructions<'a>),
    Words(words::Instructions<'a>),
}

impl<'a> FlowDecoder<'a> {
    /// A decoder of code that begins at an address. `None` if code of the processor cannot be decoded.
    pub(crate) fn new(arch: Processor, code: &'a [u8], at: u64) -> Option<Self> {
        let of_processor = match arch.flow? {
            FlowForm::X86 => OfProcessor::X86(x86::Instructions::new(arch, code, at)),
            FlowForm::Words(step) => {
                OfProcessor::Words(words::Instructions::new(arch, step, code, at))
            }
        };
        Some(Self { of_processor })
    }

    /// States the address of the table of contents, which r2 has in code of POWER: slots are counted from there.
    pub(crate) fn with_table_of_contents(mut self, address: Option<u64>) -> Self {
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

    /// Passes instructions that go on within a range of code or call code outside of it, if that is quickly seen.
    #[inline]
    pub(crate) fn pass_within(&mut self, start: u64, end: u64) -> Passed {
        match &mut self.of_processor {
            OfProcessor::X86(instructions) => instructions.pass_within(start, end),
            OfProcessor::Words(_) => Passed::default(),
        }
    }
}

impl Iterator for FlowDecoder<'_> {
    type Item = Step;

    /// The next instruction; `None` at the end of the code.
    fn next(&mut self) -> Option<Step> {
        match &mut self.of_processor {
            OfProcessor::X86(instructions) => instructions.next(),
            OfProcessor::Words(instructions) => instructions.next(),
        }
    }
}
