//! Steps from sampled code of 32 bits whose call frame information says what cannot be: hand-written functions of C libraries
//! save registers without stating it (`memcpy` and others of glibc for i386). There the code is followed to its return.

use address::Avma;
use profile::EndReason;

use crate::arch::Arch;
use crate::code::{Called, locate};
use crate::frame::Caller;
use crate::rule::Rule;
use crate::state::{Memory, Registers};
use crate::walk::Walker;
use crate::walk::uncovered::Uncovered;

impl Walker<'_> {
    /// The caller of a frame by its code, where the return address that the rule leads to is of no call of that code. `None`
    /// where the rule can be right, or there is none.
    ///
    /// # Errors
    /// `BadUnwindInfo` where neither proves a caller.
    #[cold]
    pub(super) fn step_out_of_assembly(
        &mut self,
        rule: Rule,
        place: &Uncovered<'_>,
        registers: &mut Registers,
        memory: &Memory<'_>,
        arch: Arch,
    ) -> Option<Result<Caller, EndReason>> {
        let Rule::Simple(simple) = rule else { return None };
        if simple.signal {
            return None;
        }
        let at = place.code(memory)?;
        let slot = simple.return_slot(registers, memory)?;
        let stated = memory.read(slot).ok().map(|pc| arch.strip(pc));
        // Code that a process or thread begins with has 0 there.
        let stated = stated.filter(|&pc| pc != 0)?;
        let called = self.cache.fallback.called(stated, at, memory, arch);
        if called != Called::Never || self.ends_stack(stated, memory) {
            return None;
        }
        let mut callers = registers.clone();
        let how = (place.is_leaf, true);
        let by_code = self.cache.fallback.by_code(at, how, &mut callers, memory, arch);
        let Ok(caller) = by_code else { return Some(Err(EndReason::BadUnwindInfo)) };
        *registers = callers;
        Some(Ok(caller))
    }

    /// Whether a stack begins with the code at an address: nothing calls from there, and nothing returns from it.
    fn ends_stack(&mut self, pc: u64, memory: &Memory<'_>) -> bool {
        let Some(at) = locate(Avma(pc).sub(1), memory) else { return false };
        self.cache.fallback.never_returns(at)
    }
}
