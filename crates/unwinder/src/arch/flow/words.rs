//! Consecutive instructions of processors with whole-word or half-word instructions.

use crate::arch::Processor;
use crate::arch::flow::register_contents::RegisterContents;
use crate::arch::flow::{Flow, FlowStep, StepFn};

/// An instruction and its length in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::arch) struct DecodedFlow {
    pub(in crate::arch) len: u8,
    pub(in crate::arch) flow: Flow,
}

/// Consecutive instructions, with the addresses that they compute in registers.
pub(super) struct WordInstructions<'a> {
    table_of_contents: Option<u32>,
    step: StepFn,
    code: &'a [u8],
    /// Address of the rest of the code; for Thumb code with the lowest bit set.
    at: u64,
    /// Number of next instructions that an IT of Thumb makes conditional.
    conditional: u8,
    contents: RegisterContents,
}

impl<'a> WordInstructions<'a> {
    pub(super) fn new(arch: Processor, step: StepFn, code: &'a [u8], at: u64) -> Self {
        let table_of_contents = arch.table_of_contents;
        Self {
            table_of_contents,
            step,
            code,
            at,
            conditional: 0,
            contents: RegisterContents::default(),
        }
    }

    /// Sets the register of the table of contents to an address.
    pub(super) fn set_table_of_contents(&mut self, address: Option<u64>) {
        if let Some(register) = self.table_of_contents {
            self.contents.set_address(register, address);
        }
    }

    /// Returns the flow of a jump to the contents of a register.
    pub(super) fn leads_to(&self, register: u32) -> Flow {
        self.contents.jump(register, 0)
    }

    /// Returns the next instruction; `None` at the end of the code.
    pub(super) fn next(&mut self) -> Option<FlowStep> {
        if self.code.is_empty() {
            return None;
        }
        let at = self.at;
        let stop =
            DecodedFlow { len: u8::try_from(self.code.len()).unwrap_or(2), flow: Flow::Stop };
        let decoded = (self.step)(self.code, at, &mut self.contents, &mut self.conditional);
        let DecodedFlow { len, flow } = decoded.unwrap_or(stop);
        self.code = self.code.get(usize::from(len)..).unwrap_or_default();
        self.at = at.wrapping_add(len.into());
        Some(FlowStep { at, next: self.at, flow })
    }
}
