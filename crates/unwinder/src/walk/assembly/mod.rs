//! Steps from sampled 32-bit code with impossible call frame information. Hand-written functions of C libraries save
//! registers without describing it (`memcpy` and others of glibc for i386). There the code is followed to its return.

mod vdso;

use address::Avma;
use profile::EndReason;

use crate::arch::{Arch, NARROW};
use crate::code::{Called, locate};
use crate::fallback::is_return_address;
use crate::frame::Step;
use crate::rule::Rule;
use crate::state::{Registers, SampleMemory, WalkContext};
use crate::walk::Walker;
use crate::walk::without_cfi::LookedUpFrame;

/// Returns true if the result of a 32-bit Arm rule for a sampled frame is impossible. Arm exception tables do not hold
/// at every instruction; the code is not a proof either if functions share a table entry.
#[cold]
pub(super) fn is_disproved(return_address: u64, context: &WalkContext<'_>) -> bool {
    let pc = context.arch.strip(return_address);
    context.arch.is(Arch::Arm) && pc != 0 && !is_return_address(pc, context)
}

impl Walker<'_> {
    /// Steps from a sampled frame by its code, if the rule does not lead to a return address of a call of that code.
    /// Returns `None` if the rule can be right, or if there is none.
    ///
    /// # Errors
    /// `BadUnwindInfo` if neither proves a caller.
    #[cold]
    pub(super) fn step_out_of_assembly(
        &mut self,
        rule: Rule,
        callee: &LookedUpFrame<'_>,
        registers: &mut Registers,
        context: &WalkContext<'_>,
    ) -> Option<Result<Step, EndReason>> {
        let (memory, arch) = (&context.memory, context.arch);
        if !callee.is_leaf {
            return None;
        }
        let at = callee.code(memory)?;
        let sp = registers.sp(arch);
        let mut callers = registers.clone();
        let run = match rule {
            Rule::Simple(rule) if !rule.signal => {
                rule.run::<NARROW>(&mut callers, context).map(|read| read.return_address)
            }
            Rule::Full { row, signal: false } => {
                self.full_row(row, callee.svma, callee.lookup, memory)?.run(&mut callers, context)
            }
            _ => return None,
        };
        let stated = match run {
            Ok(pc) if callers.sp(arch) > sp => Some(arch.strip(pc)),
            Err(EndReason::StackExhausted) => return None,
            _ => None,
        };
        let stated = match stated {
            // The first code of a process or thread has 0 there; but zeros are everywhere.
            Some(0) => None,
            Some(pc)
                if self.cache.fallback.called(pc, at, context) != Called::Never
                    || self.ends_stack(pc, memory) =>
            {
                return None;
            }
            stated => stated,
        };
        callers.clone_from(registers);
        match self.cache.fallback.by_code(at, callee.is_leaf, true, &mut callers, context) {
            Ok(caller) => {
                *registers = callers;
                Some(Ok(Step::to(Some(caller))))
            }
            // The address that the rule leads to is not a caller.
            Err(_) => stated.map(|_| Err(EndReason::BadUnwindInfo)),
        }
    }

    /// Returns true if a stack can begin with the code at an address: nothing calls it, and it never returns.
    fn ends_stack(&mut self, pc: u64, memory: &SampleMemory<'_>) -> bool {
        let Some(at) = locate(Avma(pc).sub(1), memory) else { return false };
        self.cache.fallback.never_returns(at)
    }
}
