//! The registers at the start of a walk.

use address::Avma;

use crate::arch::{NARROW, Processor};
use crate::state::Registers;
use crate::walk::UserState;

/// The frame at the start of a walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct WalkStart {
    /// The looked-up address.
    pub(super) lookup: Avma,
    /// True if it is a leaf: it was sampled there, or a signal interrupted it there, so no callee is active.
    pub(super) is_leaf: bool,
}

impl WalkStart {
    /// A frame that was sampled at an address.
    pub(super) const fn sampled(pc: Avma) -> Self {
        Self { lookup: pc, is_leaf: true }
    }

    /// The frame that a call returns to, looked up at the call.
    pub(super) const fn caller(return_address: Avma) -> Self {
        Self { lookup: return_address.sub(1), is_leaf: false }
    }
}

/// Returns the sampled registers by DWARF number, and the program counter.
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
        // Bits without a number map past all registers.
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
