//! The registers that a walk begins with.

use address::Avma;

use crate::arch::{NARROW, Processor};
use crate::state::Registers;
use crate::walk::UserState;

/// The frame that a walk begins with.
#[derive(Clone, Copy, Debug)]
pub(super) struct WalkStart {
    /// The address that is looked up.
    pub(super) lookup: Avma,
    /// It has called nobody yet that could still be running: it was sampled there, or a signal interrupted it there.
    pub(super) is_leaf: bool,
}

impl WalkStart {
    /// The frame that was sampled at an address.
    pub(super) const fn sampled(pc: Avma) -> Self {
        Self { lookup: pc, is_leaf: true }
    }

    /// The frame that a call returns to, looked up in the call.
    pub(super) const fn caller(return_address: Avma) -> Self {
        Self { lookup: return_address.sub(1), is_leaf: false }
    }
}

/// The sampled registers by DWARF number, and the program counter.
#[inline]
pub(super) fn initial_registers(
    state: &UserState<'_>,
    arch: Processor,
    sampled: impl Iterator<Item = (u32, u64)>,
) -> (Registers, Option<u64>) {
    let mut registers = Registers::new();
    let numbers = arch.of_mask_bits;
    let mut known = 0;
    for (bit, value) in sampled {
        // What has no number is beyond all registers.
        if let Some(&number) = numbers.get(bit as usize)
            && registers.put(number, value)
        {
            known |= 1_u64.wrapping_shl(number.into());
        }
    }
    registers.mark_values(known);
    if state.partial_registers {
        for &number in arch.may_be_unknown {
            if registers.value(number) == Some(u64::MAX) {
                registers.forget(number);
            }
        }
    }
    if arch.word == NARROW {
        registers.narrow();
    }
    let pc = registers.value(arch.pc);
    (registers, pc)
}
