//! The registers that a walk begins with.

use crate::arch::NARROW;
use crate::state::Registers;
use crate::walk::UserState;

/// The sampled registers by DWARF number, and the program counter.
pub(super) fn initial_registers(
    state: &UserState<'_>,
    sampled: impl Iterator<Item = (u32, u64)>,
) -> (Registers, Option<u64>) {
    let mut registers = Registers::new();
    let numbers = state.arch.of_mask_bits();
    for (bit, value) in sampled {
        if let Some(&number) = numbers.get(bit as usize) {
            // What has no number is beyond all registers.
            registers.set(number, value);
        }
    }
    if state.partial_registers {
        for &number in state.arch.may_be_unknown() {
            if registers.value(number) == Some(u64::MAX) {
                registers.forget(number);
            }
        }
    }
    if state.arch.word() == NARROW {
        registers.narrow();
    }
    let pc = registers.value(state.arch.pc());
    (registers, pc)
}
