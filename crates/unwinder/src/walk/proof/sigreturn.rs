//! Samples of the kernel in `rt_sigreturn`: their address is after the trampoline's system call, an address at which
//! another function can begin. The registers distinguish the two: the system call leaves its return address in rcx. The
//! frame is looked up at the system call, as a caller at its call.

use address::Avma;

use crate::arch::Arch;
use crate::frame::{Remark, Step};
use crate::state::{Registers, WalkContext};
use crate::walk::Walker;
use crate::walk::without_cfi::LookedUpFrame;

/// rcx.
const RETURN_ADDRESS: u8 = 2;
/// Bytes of the trampoline: two instructions; the last one is the system call.
const TRAMPOLINE: usize = 9;

impl Walker<'_> {
    /// Steps from a sampled frame without a rule, if it is after a trampoline's system call.
    #[cold]
    pub(in crate::walk) fn step_out_of_sigreturn(
        &self,
        callee: &LookedUpFrame<'_>,
        registers: &mut Registers,
        context: &WalkContext<'_>,
    ) -> Option<Step> {
        let (memory, arch) = (&context.memory, context.arch);
        if !arch.is(Arch::X86_64) || !callee.is_leaf {
            return None;
        }
        let start = Avma(callee.lookup.0.wrapping_sub(TRAMPOLINE as u64));
        let code = memory.code(start, TRAMPOLINE)?;
        if !arch.is_signal_trampoline(code) {
            return None;
        }
        let is_returned = registers.value(RETURN_ADDRESS) == Some(callee.lookup.0);
        let is_padding = || memory.code(callee.lookup, 2).is_some_and(|code| arch.is_padding(code));
        if !is_returned && !is_padding() {
            return None;
        }
        let row = self.engine.signal_frame_row(arch, 0)?;
        let before = registers.clone();
        let pc = row.run(registers, context).ok();
        // The kernel may already have restored some registers.
        let is_code =
            |&pc: &u64| memory.space.lookup(Avma(pc)).is_some_and(|mapping| mapping.executable);
        let Some(pc) = pc.filter(is_code) else {
            registers.clone_from(&before);
            return None;
        };
        let caller = Self::caller_at(pc, true, context.arch);
        Some(Step { remark: Remark::InSystemCall, ..Step::to(caller) })
    }
}
