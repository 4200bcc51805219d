//! The step that nearly all are: by a simple rule, from a register that is known, to a return address in the recorded bytes.

use address::Avma;

use crate::arch::WIDE;
use crate::cache::{StackCache, WalkState};
use crate::frame::Frame;
use crate::rule::{FrameExtent, Rule};
use crate::walk::Walker;

/// Where a plain step led.
pub(super) enum PlainStep {
    /// To a caller, by the address that is looked up.
    To(Avma),
    /// To the end of the recorded bytes: the frame, which is added, ends at that address (its CFA).
    CutOff(u64),
}

impl Walker<'_> {
    /// Makes the step, or ends the chain where the dump ends, with the frame added; `None`, and nothing is added, for every
    /// other step. Of the saved registers only the frame pointer is restored, where the step is remembered: the others wait
    /// until something asks for them ([`StackCache::catch_up`]).
    #[inline(always)]
    pub(super) fn step_plain<const WORD: u64>(
        &self,
        rule: &Rule,
        frame: &Frame,
        is_leaf: bool,
        previous: &mut StackCache,
        walk: WalkState<'_, '_>,
    ) -> Option<PlainStep> {
        let WalkState { context, registers, frames, .. } = walk;
        let (memory, arch) = (&context.memory, context.arch);
        let Rule::Simple(rule) = rule else { return None };
        if WORD != WIDE {
            return None;
        }
        if rule.cfa_register != arch.sp && rule.cfa_register != arch.fp {
            previous.catch_up::<WORD>(registers, arch);
        }
        let Some(read) = rule.read_plain::<WORD>(registers, context) else {
            let cfa = rule.cut_at::<WORD>(registers, memory)?;
            frames.push(*frame);
            return Some(PlainStep::CutOff(cfa));
        };
        frames.push(Frame { saved: read.values, ..*frame });
        let place = FrameExtent { sp: frame.sp, cfa: read.cfa };
        if is_leaf || !previous.remember_simple(frame, rule, &read) {
            previous.catch_up::<WORD>(registers, arch);
            rule.restore_saved::<WORD>(registers, arch, place);
        } else if let Some(slot) = rule.slot_of::<WORD>(arch.fp_slot, place) {
            registers.set_saved(arch.fp, slot);
        }
        registers.go_to(arch, read.cfa, read.return_address);
        Some(PlainStep::To(Avma(arch.strip(read.return_address)).sub(1)))
    }
}
