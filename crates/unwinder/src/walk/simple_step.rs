//! The most frequent step: by a simple rule, from a known register, to a return address in the recorded bytes.

use address::Avma;

use crate::arch::WIDE;
use crate::cache::{StackCache, WalkState};
use crate::frame::Frame;
use crate::rule::{FrameExtent, Rule};
use crate::walk::Walker;

/// The end of a simple step.
pub(super) enum SimpleStep {
    /// At a caller, with its looked-up address.
    To(Avma),
    /// At the end of the recorded bytes: the frame is added, and its CFA is that address.
    Truncated(u64),
}

impl Walker<'_> {
    /// Makes the step and adds the frame. The chain ends if its return address is past the recorded bytes. Every other
    /// step returns `None` and adds nothing.
    #[inline(always)]
    pub(super) fn simple_step<const WORD: u64>(
        &self,
        rule: &Rule,
        frame: &Frame,
        is_leaf: bool,
        previous: &mut StackCache,
        walk: WalkState<'_, '_>,
    ) -> Option<SimpleStep> {
        let WalkState { context, registers, frames, .. } = walk;
        let (memory, arch) = (&context.memory, context.arch);
        let Rule::Simple(rule) = rule else { return None };
        if WORD != WIDE {
            return None;
        }
        let Some(read) = rule.read_slots::<WORD>(registers, context) else {
            let cfa = rule.truncated_at::<WORD>(registers, memory)?;
            frames.push(*frame);
            return Some(SimpleStep::Truncated(cfa));
        };
        frames.push(Frame { saved: read.values, ..*frame });
        let extent = FrameExtent { sp: frame.sp, cfa: read.cfa };
        if !is_leaf {
            previous.remember_simple(frame, rule, &read);
        }
        rule.restore_saved::<WORD>(registers, arch, extent);
        registers.go_to(arch, read.cfa, read.return_address);
        Some(SimpleStep::To(Avma(arch.strip(read.return_address)).sub(1)))
    }
}
