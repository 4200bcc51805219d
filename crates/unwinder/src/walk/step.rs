//! The step out of a frame by any rule.

use address::Avma;
use profile::{EndReason, FoundBy};

use crate::arch::{Arch, NARROW, Processor};
use crate::frame::{Caller, Step, StepEvidence};
use crate::rule::Rule;
use crate::state::{Registers, WalkContext};
use crate::walk::Walker;
use crate::walk::assembly::is_disproved;
use crate::walk::outcome::ChainEnd;
use crate::walk::proof::is_replaced;
use crate::walk::without_cfi::LookedUpFrame;

impl Walker<'_> {
    /// Steps out of a frame. Most steps are made earlier, by [`SimpleRule::read_slots`](crate::rule::SimpleRule).
    pub(super) fn step<const WORD: u64>(
        &mut self,
        rule: Rule,
        callee: LookedUpFrame<'_>,
        registers: &mut Registers,
        context: &WalkContext<'_>,
    ) -> Result<Step, ChainEnd> {
        let (memory, arch) = (&context.memory, context.arch);
        let LookedUpFrame { lookup, svma, is_leaf, .. } = callee;
        let sp = registers.sp(arch);
        if WORD == NARROW
            && arch.is(Arch::X86)
            && let Some(step) = self.step_out_of_assembly(rule, &callee, registers, context)
        {
            return step.map_err(ChainEnd::from);
        }
        let (pc, signal, evidence) = match rule {
            Rule::Simple(rule) => {
                let read = match rule.run::<WORD>(registers, context) {
                    Ok(read) => read,
                    Err(why) => {
                        let truncated_at =
                            rule.cfa(registers, memory).filter(|_| is_truncated(why, rule.signal));
                        let end = ChainEnd { truncated_at, ..why.into() };
                        return self.step_past_rule(end, &callee, registers, context);
                    }
                };
                // A later walk can repeat the step if it depends only on stack words.
                let by_stack =
                    rule.return_address() != 0 && rule.cfa_register != arch.return_address;
                let evidence =
                    (by_stack && !rule.signal).then_some(StepEvidence::Simple(rule, read));
                (read.return_address, rule.signal, evidence)
            }
            Rule::Full { row, signal } => {
                let row = self.full_row(row, svma, lookup, memory);
                let row = row.ok_or(EndReason::BadUnwindInfo)?;
                let run = match row.run(registers, context) {
                    Ok(run) if !signal && is_replaced(self, &row, run, &callee, context) => {
                        return Err(EndReason::RegisterUnknown.into());
                    }
                    Ok(run) => run,
                    // Nothing has changed yet.
                    Err(why) if registers.sp(arch) == sp && !signal => {
                        return self.step_past_rule(why.into(), &callee, registers, context);
                    }
                    Err(why) => {
                        let moved = Some(registers.sp(arch));
                        let truncated_at = moved.filter(|&to| to > sp && is_truncated(why, signal));
                        return Err(ChainEnd { truncated_at, ..why.into() });
                    }
                };
                (run, signal, None)
            }
            Rule::Outermost => return Ok(Step::outermost()),
            Rule::NoInfo | Rule::Damaged | Rule::OtherStack => {
                return self.step_without_rule(rule, &callee, registers, context);
            }
        };
        let moved = registers.sp(arch);
        // A leaf can have its return address in a register and an empty frame: usual on aarch64, and in vfork on
        // x86-64.
        let advanced = moved > sp || (is_leaf && moved == sp);
        if !advanced && !signal {
            return Err(EndReason::NoProgress.into());
        }
        if WORD == NARROW && is_leaf && !signal && is_disproved(pc, context) {
            return Err(EndReason::BadUnwindInfo.into());
        }
        Ok(Step { evidence, ..Step::to(Self::caller_at(pc, signal, arch)) })
    }

    /// Returns the caller that a rule leads to; `None` if there is none.
    #[inline(always)]
    pub(super) fn caller_at(pc: u64, signal: bool, arch: Processor) -> Option<Caller> {
        // The first code of a process or thread has 0 instead of a return address.
        let pc = Some(Avma(arch.strip(pc))).filter(|pc| pc.0 != 0);
        pc.map(|pc| Caller { pc, exact: signal, found_by: FoundBy::Cfi })
    }
}

/// Returns true if a step failed because the slot of the return address is past the stack bytes. The interrupted frame
/// of a signal has no such slot.
pub(super) fn is_truncated(why: EndReason, signal: bool) -> bool {
    why == EndReason::StackExhausted && !signal
}
