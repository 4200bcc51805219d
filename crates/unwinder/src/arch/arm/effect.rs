//! Registers and stack slots of 32-bit Arm.
//!
//! Source: Procedure Call Standard for the Arm Architecture, section 6.1.1.

use crate::arch::arm::decode::{DecodedInstruction, Effect, LR, PC, SP, decode};
use crate::arch::effect::EffectMachine;

/// r0 to r3, ip, lr.
pub(super) const CALLER_SAVED: [u8; 6] = [0, 1, 2, 3, 12, LR];

/// Runs an instruction that is not a branch.
pub(super) fn run(bytes: &[u8], at: u64, machine: &mut EffectMachine<'_>) {
    let Some(DecodedInstruction { effect, .. }) = decode(bytes, at & 1 != 0) else { return };
    match effect {
        Effect::Push(list) => {
            let registers = || (0..16).filter(|register| list >> register & 1 != 0);
            machine.set(SP, SP, -4 * registers().count() as i64);
            registers().zip(0..).for_each(|(register, slot)| machine.store(register, SP, 4 * slot));
        }
        Effect::Pop(list) => pop(list, machine),
        Effect::Move(to, from, plus) => machine.set(to, from, plus),
        // Any register may have changed.
        Effect::Unknown => (0..=LR).for_each(|register| machine.kill(register)),
        // Registers are restored by pops only.
        Effect::Nothing | Effect::Call | Effect::Jump(_) | Effect::Return => {}
    }
}

/// Runs a return, and returns the register that it jumps to.
pub(super) fn returns_to(bytes: &[u8], at: u64, machine: &mut EffectMachine<'_>) -> u8 {
    match decode(bytes, at & 1 != 0).map(|decoded| decoded.effect) {
        Some(Effect::Pop(list)) if list >> PC & 1 != 0 => {
            pop(list, machine);
            PC
        }
        Some(Effect::Return) => LR,
        _ => {
            machine.kill(LR);
            LR
        }
    }
}

fn pop(list: u16, machine: &mut EffectMachine<'_>) {
    let registers = || (0..16).filter(|register| list >> register & 1 != 0);
    registers().zip(0..).for_each(|(register, slot)| machine.load(register, SP, 4 * slot));
    machine.set(SP, SP, 4 * registers().count() as i64);
}
