//! The registers that a walk begins with.

use crate::arch::{NARROW, Processor};
use crate::state::Registers;
use crate::walk::UserState;

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
