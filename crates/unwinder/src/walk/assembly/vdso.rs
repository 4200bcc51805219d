//! Steps from the vdso of 32-bit processes without its file: no tool records it, and the unwinder's own process has
//! another vdso. The stack words of the kernel and the vdso prove two kinds of frames; for all others, nothing is
//! claimed.
//!
//! ```text
//!   system call:  [ ebp ][ edx ][ ecx ][ return address, after the call of the vdso ]
//!   signal:       [ number ] or [ number ][ *info ][ *context ][ info ] , then [ registers ]
//! ```
//!
//! Source: `arch/x86/entry/vdso/vdso32/system_call.S` and `sigreturn.S`; `arch/x86/include/asm/sigframe.h`.

use address::Avma;
use profile::{EndReason, FoundBy};

use crate::frame::{Caller, Step};
use crate::state::{Registers, WalkContext};
use crate::walk::Walker;
use crate::walk::without_cfi::LookedUpFrame;

/// Number of registers that the entry of a system call saves.
const SAVED: u64 = 3;
const EDX: u8 = 2;
const ECX: u8 = 1;
/// `call *%gs:0x10`: the call of the vdso's system call in C libraries.
const CALL_OF_VDSO: [u8; 7] = [0x65, 0xff, 0x15, 0x10, 0, 0, 0];

impl Walker<'_> {
    /// Steps from a frame in the vdso of a 32-bit process, without its file.
    pub(in crate::walk) fn step_from_vdso(
        &self,
        callee: &LookedUpFrame<'_>,
        registers: &mut Registers,
        context: &WalkContext<'_>,
    ) -> Result<Step, EndReason> {
        let step = |caller| Ok(Step::to(Some(caller)));
        if let Some(row) = self.signal_row(callee, registers.sp(context.arch), context) {
            let pc = row.run(registers, context)?;
            return step(Caller {
                pc: Avma(context.arch.strip(pc)),
                exact: true,
                found_by: FoundBy::Cfi,
            });
        }
        let returned = if callee.is_leaf { out_of_system_call(registers, context) } else { None };
        returned.map_or(Err(EndReason::NoModule), step)
    }

    /// Returns the row of the signal frame on the stack, if there is one.
    fn signal_row(
        &self,
        callee: &LookedUpFrame<'_>,
        sp: u64,
        context: &WalkContext<'_>,
    ) -> Option<std::sync::Arc<crate::rule::FullRow>> {
        let (memory, arch) = (&context.memory, context.arch);
        let read = |offset: u64| memory.read(memory.wrap(sp.wrapping_add(offset))).ok();
        let is_code = |pc: u64| memory.space.lookup(Avma(pc)).is_some_and(|it| it.executable);
        // A handler returns before anything is popped.
        let forms: &[usize] = if callee.is_leaf { &[0, 1, 2] } else { &[0, 1] };
        let found = forms.iter().find(|&&form| arch.is_signal_frame(form, sp, read, is_code))?;
        self.engine.signal_frame_row(arch, *found)
    }
}

/// Returns the caller of the vdso's entry of system calls, as a sample finds it. The pushed words equal the registers,
/// and the return address of a call of the entry follows them.
fn out_of_system_call(registers: &mut Registers, context: &WalkContext<'_>) -> Option<Caller> {
    let (memory, arch) = (&context.memory, context.arch);
    let sp = registers.sp(arch);
    let slot = |words: u64| memory.wrap(sp.wrapping_add(arch.word * words));
    let returns = |words: u64| {
        let pc = memory.read(slot(words)).ok()?;
        let code = memory.code(Avma(pc).sub(CALL_OF_VDSO.len() as u64), CALL_OF_VDSO.len())?;
        let is_executable = memory.space.lookup(Avma(pc).sub(1)).is_some_and(|it| it.executable);
        let is_indirect = || code.windows(2).any(|it| it[0] == 0xff && it[1] & 0x38 == 0x10);
        let is_call = is_executable && arch.ends_with_call(code);
        is_call.then(|| (pc, code == CALL_OF_VDSO, is_indirect()))
    };
    let holds = |words: u64, register: u8| {
        memory.read(slot(words)).ok() == registers.get(register, memory).ok()
    };
    let (words, pc) = match returns(SAVED) {
        Some((pc, _, true)) if holds(1, EDX) && holds(2, ECX) => (SAVED, pc),
        _ => {
            let mut all = (0..=SAVED).filter_map(|words| {
                returns(words).filter(|&(_, is_of_vdso, _)| is_of_vdso).map(|it| (words, it.0))
            });
            all.next().filter(|_| all.next().is_none())?
        }
    };
    if words == SAVED {
        registers.set_saved(arch.fp, sp);
    }
    registers.set(arch.sp, slot(words + 1));
    registers.set(arch.return_address, pc);
    Some(Caller { pc: Avma(pc), exact: false, found_by: FoundBy::Code })
}
