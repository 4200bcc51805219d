//! Candidates among the words of the dump, if neither call frame information nor the code locates the return address.
//! The walk then determines which of them lead to a root.

use address::Avma;

use crate::arch::Processor;
use crate::code::{Called, ImageAddress};
use crate::fallback::Fallback;
use crate::state::{Registers, SampleMemory, WalkContext};

/// A word of the dump that can be the return address of the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ReturnSlot {
    pub(crate) address: u64,
    pub(crate) return_address: u64,
}

/// Limit above the slots of one frame: beyond it, nothing is proven.
const MOST_SLOTS: usize = 16;

impl Fallback {
    /// Returns the words above the stack pointer that follow a call of this function. If there are none and the
    /// function does not return: those that follow the call of a process's or a thread's first function, according to
    /// `is_start`.
    pub(crate) fn slots(
        &mut self,
        at: ImageAddress<'_>,
        is_leaf: bool,
        registers: &Registers,
        context: &WalkContext<'_>,
        mut is_start: impl FnMut(u64) -> bool,
    ) -> Vec<ReturnSlot> {
        let (memory, arch) = (&context.memory, context.arch);
        if !arch.is_x86() || memory.is_big_endian() {
            return Vec::new();
        }
        let sp = registers.sp(arch);
        let word_size = arch.word;
        let first = sp.wrapping_add(sp.wrapping_neg() % word_size);
        let mut proven = Vec::new();
        let mut others = Vec::new();
        for index in 0..memory.stack.len() as u64 / word_size {
            let address = first.wrapping_add(word_size * index);
            let Some(word) = memory.recorded(address) else { break };
            match self.follower.called(word, at, context) {
                Called::Never => {}
                Called::Perhaps => others.push(ReturnSlot { address, return_address: word }),
                Called::Proven => {
                    proven.push(ReturnSlot { address, return_address: word });
                    if proven.len() > MOST_SLOTS {
                        return Vec::new();
                    }
                }
            }
        }
        if proven.is_empty() && self.follower.never_returns(at, is_leaf) {
            // No other callee could still be active.
            let first = others.into_iter().next().filter(|slot: &ReturnSlot| {
                is_start(slot.return_address)
                    || self.follower.is_thread_start(slot.return_address, memory)
            });
            return first.into_iter().collect();
        }
        proven
    }

    /// Returns true if a slot returns to the first code of a thread.
    pub(crate) fn is_thread_start(&mut self, slot: &ReturnSlot, memory: &SampleMemory<'_>) -> bool {
        self.follower.is_thread_start(slot.return_address, memory)
    }
}

impl ReturnSlot {
    /// Returns the registers of the caller; the callee-saved registers are unknown.
    pub(crate) fn apply(&self, registers: &Registers, arch: Processor) -> Registers {
        let mut caller = registers.clone();
        arch.conventions.callee_saved.iter().for_each(|&register| caller.forget(register));
        caller.set(arch.sp, self.address.wrapping_add(arch.word));
        caller.set(arch.return_address, self.return_address);
        caller
    }

    /// The return address.
    pub(crate) const fn pc(&self) -> Avma {
        Avma(self.return_address)
    }
}
