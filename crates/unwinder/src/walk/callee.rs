//! The frame that a step leads from: the callee.

use crate::frame::{Evidence, Frame, Remark, Step};
use crate::state::WalkContext;

/// Notes in a frame the facts that the step from it shows.
#[inline]
pub(super) fn note_facts(frame: &mut Frame, step: &Step, is_leaf: bool, context: &WalkContext<'_>) {
    if let Some(Evidence::Simple(_, read)) = &step.evidence {
        frame.saved = read.values;
    }
    if step.remark == Remark::InSystemCall {
        frame.relative = frame.relative.wrapping_sub(1);
    }
    if !is_leaf && step.caller.is_none_or(|caller| caller.exact) {
        look_up_return_address(frame, step, context);
    }
}

/// Moves the looked-up address of a frame to its return address, if no call stands before that. Handlers of signals return to
/// the first instruction of a trampoline. Functions of fibers return to the first one of the code that ends the fiber.
#[cold]
fn look_up_return_address(frame: &mut Frame, step: &Step, context: &WalkContext<'_>) {
    let (memory, arch) = (&context.memory, context.arch);
    let goes_on = frame.in_process().add(1);
    let is_called = match (step.caller, step.evidence) {
        // It is the frame of a signal.
        (Some(_), _) => false,
        (None, Some(_)) => true,
        (None, None) => {
            let len = arch.longest_call();
            let code = memory.code(goes_on.sub(len as u64), len);
            code.is_none_or(|code| arch.ends_with_call(code))
        }
    };
    // What a mapping begins with is looked up there already.
    let is_inside = || memory.space.lookup(goes_on).is_some_and(|it| it.start < goes_on.sub(1));
    if !is_called && is_inside() {
        frame.relative = frame.relative.wrapping_add(1);
    }
}
