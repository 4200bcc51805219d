//! The callee: the frame that a step starts from.

use crate::frame::{Frame, Remark, Step, StepEvidence};
use crate::state::WalkContext;

/// Records in a frame the facts that the step from it shows.
#[inline]
pub(super) fn note_facts(frame: &mut Frame, step: &Step, is_leaf: bool, context: &WalkContext<'_>) {
    if let Some(StepEvidence::Simple(_, read)) = &step.evidence {
        frame.saved = read.values;
    }
    if step.remark == Remark::InSystemCall {
        frame.relative = frame.relative.wrapping_sub(1);
    }
    if !is_leaf && step.caller.is_none_or(|caller| caller.exact) {
        look_up_return_address(frame, step, context);
    }
}

/// Moves the looked-up address of a frame to its return address, if no call precedes that. Signal handlers return to
/// the first instruction of a trampoline. Functions of fibers return to the first instruction of the code that ends the
/// fiber.
#[cold]
fn look_up_return_address(frame: &mut Frame, step: &Step, context: &WalkContext<'_>) {
    let (memory, arch) = (&context.memory, context.arch);
    let next = frame.in_process().add(1);
    let is_called = match (step.caller, step.evidence) {
        // A signal frame.
        (Some(_), _) => false,
        (None, Some(_)) => true,
        (None, None) => {
            let len = arch.longest_call();
            let code = memory.code(next.sub(len as u64), len);
            code.is_none_or(|code| arch.ends_with_call(code))
        }
    };
    // The first byte of a mapping is already the looked-up address there.
    let is_inside = || memory.space.lookup(next).is_some_and(|it| it.start < next.sub(1));
    if !is_called && is_inside() {
        frame.relative = frame.relative.wrapping_add(1);
    }
}
