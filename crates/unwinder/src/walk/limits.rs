//! Work limits of a walk, by the size of its stack.

use crate::frame::Step;

/// Returns a bound on the frames of a stack of `stack` bytes: one for each byte, and some for other stacks that signals
/// interrupted.
pub(super) const fn most_frames(stack: usize) -> usize {
    const OTHERS: usize = 4096;
    OTHERS + stack
}

/// Returns the total number of frames that are tried when words of a stack of `stack` bytes may be return addresses.
pub(super) const fn most_tried(stack: usize) -> usize {
    64 + stack / 2
}

/// Returns the number of operations that the expressions of all rows of a walk may run. A signal frame needs 40, a PLT
/// entry 11.
pub(super) const fn steps_of(stack: usize) -> u32 {
    const FREE: u32 = 2048;
    const MOST: usize = 1 << 20;
    FREE + (if stack < MOST { stack } else { MOST }) as u32 / 4
}

/// Returns true if a step out of a signal frame makes no progress. A signal frame holds all registers, so the stack
/// pointer must change. It may lead to another stack, but only a few times.
pub(super) fn is_stuck(step: &Step, sp: u64, moved: u64, switches: &mut u32) -> bool {
    if !step.caller.as_ref().is_some_and(|caller| caller.exact) {
        return false;
    }
    *switches += u32::from(moved < sp);
    moved == sp || *switches > SWITCHES
}

/// Maximum number of switches between stacks in the chain of a sample.
const SWITCHES: u32 = 32;
