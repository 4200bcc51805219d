//! Steps from sampled code of 32 bits whose call frame information says what cannot be: hand-written functions of C libraries
//! save registers without stating it (`memcpy` and others of glibc for i386). There the code is followed to its return.

use address::Avma;
use profile::EndReason;

use crate::arch::{Arch, NARROW};
use crate::code::{Called, locate};
use crate::fallback::is_return_address;
use crate::frame::Step;
use crate::rule::Rule;
use crate::state::{Memory, Registers, WalkContext};
use crate::walk::Walker;
use crate::walk::without_cfi::LookedUpFrame;

/// Whether what a rule of 32-bit Arm says of a sampled frame cannot be: its exception tables do not hold everywhere, and what
/// the instructions say is no proof where functions share an entry of them.
#[cold]
pub(super) fn is_disproved(return_address: u64, context: &WalkContext<'_>) -> bool {
    let pc = context.arch.strip(return_address);
    context.arch.is(Arch::Arm) && pc != 0 && !is_return_address(pc, context)
}

impl Walker<'_> {
    /// The step from a sampled frame by its code, where the rule leads to no return address of a call of that code. `None` where the
    /// rule can be right, or there is none.
    ///
    /// # Errors
    /// `BadUnwindInfo` where neither proves a caller.
    #[cold]
    pub(super) fn step_out_of_assembly(
        &mut self,
        rule: Rule,
        place: &LookedUpFrame<'_>,
        registers: &mut Registers,
        context: &WalkContext<'_>,
    ) -> Option<Result<Step, EndReason>> {
        let (memory, arch) = (&context.memory, context.arch);
        if !place.is_leaf {
            return None;
        }
        let at = place.code(memory)?;
        let sp = registers.sp(arch);
        let mut callers = registers.clone();
        let run = match rule {
            Rule::Simple(rule) if !rule.signal => {
                rule.run::<NARROW>(&mut callers, context).map(|read| read.return_address)
            }
            Rule::Full { row, signal: false } => {
                self.full_row(row, place.svma, place.lookup, memory)?.run(&mut callers, context)
            }
            _ => return None,
        };
        let stated = match run {
            Ok(pc) if callers.sp(arch) > sp => Some(arch.strip(pc)),
            Err(EndReason::StackExhausted) => return None,
            _ => None,
        };
        let stated = match stated {
            // Code that a process or thread begins with has 0 there; but zeros are everywhere.
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
        match self.cache.fallback.by_code(at, place.is_leaf, true, &mut callers, context) {
            Ok(caller) => {
                *registers = callers;
                Some(Ok(Step::to(Some(caller))))
            }
            // What the rule leads to is no caller.
            Err(_) => stated.map(|_| Err(EndReason::BadUnwindInfo)),
        }
    }

    /// Whether a stack begins with the code at an address: nothing calls from there, and nothing returns from it.
    fn ends_stack(&mut self, pc: u64, memory: &Memory<'_>) -> bool {
        let Some(at) = locate(Avma(pc).sub(1), memory) else { return false };
        self.cache.fallback.never_returns(at)
    }
}
