//! Instructions one after another, of the processors whose instructions are whole words or half words.

use crate::arch::Processor;
use crate::arch::flow::known::Known;
use crate::arch::flow::{Flow, FlowStep, StepFn};

/// An instruction of a length in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::arch) struct Decoded {
    pub(in crate::arch) len: u8,
    pub(in crate::arch) flow: Flow,
}

/// Instructions one after another, with the addresses that they put together in registers.
pub(super) struct Instructions<'a> {
    table_of_contents: Option<u32>,
    step: StepFn,
    code: &'a [u8],
    /// Where the rest of the code begins; of Thumb code with the lowest bit set.
    at: u64,
    /// Instructions that an IT of Thumb still makes conditional.
    conditional: u8,
    known: Known,
}

impl<'a> Instructions<'a> {
    pub(super) fn new(arch: Processor, step: StepFn, code: &'a [u8], at: u64) -> Self {
        let table_of_contents = arch.table_of_contents;
        Self { table_of_contents, step, code, at, conditional: 0, known: Known::default() }
    }

    /// The register of the table of contents has this address.
    pub(super) fn set_table_of_contents(&mut self, address: Option<u64>) {
        if let Some(register) = self.table_of_contents {
            self.known.set_address(register, address);
        }
    }

    /// A jump to the contents of a register.
    pub(super) fn leads_to(&self, register: u32) -> Flow {
        self.known.jump(register, 0)
    }

    /// The next instruction; `None` at the end of the code.
    pub(super) fn next(&mut self) -> Option<FlowStep> {
        if self.code.is_empty() {
            return None;
        }
        let at = self.at;
        let stop = Decoded { len: u8::try_from(self.code.len()).unwrap_or(2), flow: Flow::Stop };
        let decoded = (self.step)(self.code, at, &mut self.known, &mut self.conditional);
        let Decoded { len, flow } = decoded.unwrap_or(stop);
        self.code = self.code.get(usize::from(len)..).unwrap_or_default();
        self.at = at.wrapping_add(len.into());
        Some(FlowStep { at, next: self.at, flow })
    }
}
