//! How much the walk of a stack may do, by its size.

use crate::frame::Step;

/// More frames than are on a stack of so many bytes, each of which has a word of it, and on others that signals came on.
pub(super) const fn most_frames(stack: usize) -> usize {
    const OTHERS: usize = 4096;
    OTHERS + stack
}

/// How many frames are tried in all where words of a stack of so many bytes may be return addresses: some for each word.
pub(super) const fn most_tried(stack: usize) -> usize {
    64 + stack / 2
}

/// How many operations the expressions of all rows of a walk may run. Those of a signal frame have 40, those of a PLT 11.
pub(super) const fn steps_of(stack: usize) -> u32 {
    const FREE: u32 = 2048;
    const MOST: usize = 1 << 20;
    FREE + (if stack < MOST { stack } else { MOST }) as u32 / 4
}

/// Whether a signal frame that was stepped out of leads nowhere: it has room for all registers, so the stack pointer moves,
/// to another stack now and then.
pub(super) fn is_stuck(step: &Step, sp: u64, moved: u64, switches: &mut u32) -> bool {
    if !step.caller.as_ref().is_some_and(|caller| caller.exact) {
        return false;
    }
    *switches += u32::from(moved < sp);
    moved == sp || *switches > SWITCHES
}

/// How often the chain of a sample goes from one stack to another at most.
const SWITCHES: u32 = 32;
