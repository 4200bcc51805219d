//! Functions that continue in the handler of an exception (`__builtin_eh_return`: `_Unwind_Resume`,
//! `_Unwind_RaiseException`). Before they return, they overwrite their own return address and saved registers with
//! those of the handler's frame. From then on their CFI leads to the handler, with the caller's stack pointer: a chain
//! that never existed.

use address::Avma;

use crate::arch::{CallTarget, Processor};
use crate::code::Called;
use crate::rule::{FullRow, Recovery};
use crate::state::WalkContext;
use crate::walk::Walker;
use crate::walk::without_cfi::LookedUpFrame;

/// Returns true if a row belongs to such a function: it saves the handler's data registers, which no other function
/// saves.
fn continues_in_handler(row: &FullRow, arch: Processor) -> bool {
    let data = arch.conventions.handler_data;
    let is_saved = |wanted: &u8| {
        row.registers.iter().any(|(register, recovery)| {
            register == wanted && matches!(recovery, Recovery::SlotAtCfa(_))
        })
    };
    !data.is_empty() && data.iter().all(is_saved)
}

/// Returns true if a row leads to a handler instead of the caller of the frame's function.
#[cold]
pub(in crate::walk) fn is_replaced(
    walker: &mut Walker<'_>,
    row: &FullRow,
    return_address: u64,
    callee: &LookedUpFrame<'_>,
    context: &WalkContext<'_>,
) -> bool {
    if !continues_in_handler(row, context.arch) {
        return false;
    }
    let Some(at) = callee.code(&context.memory) else { return false };
    let pc = context.arch.strip(return_address);
    pc != 0
        && match walker.cache.fallback.called(pc, at, context) {
            Called::Proven => false,
            Called::Never => true,
            // A handler's address follows the call of a function that throws. If its jumps can lead anywhere, that
            // proves nothing.
            Called::Perhaps => !is_after_indirect_call(pc, context),
        }
}

fn is_after_indirect_call(pc: u64, context: &WalkContext<'_>) -> bool {
    let len = context.arch.longest_call();
    let code = context.memory.code(Avma(pc).sub(len as u64), len);
    code.and_then(|code| context.arch.call_target(code, pc)) == Some(CallTarget::Indirect)
}
