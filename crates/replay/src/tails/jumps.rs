//! Exits of the code of one FDE.

use unwinder::{Flow, FlowDecoder, FlowStep};

use crate::tails::files::{BranchKind, FdeRange};

/// An instruction that leaves the range of its FDE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CodeExit {
    /// Address of the instruction.
    pub(super) site: u64,
    pub(super) to: ExitTarget,
}

/// Target of an exit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ExitTarget {
    /// A code address.
    Code(u64, BranchKind),
    /// The target of the pointer at this address.
    Slot(u64),
    /// An address in a register or a computed word; possibly inside of the range.
    Computed,
    /// The code after the range.
    Following,
}

/// All exits of the code of an FDE.
#[derive(Default, Debug)]
pub(super) struct Jumps {
    pub(super) exits: Vec<CodeExit>,
    /// True if some are unknown: the code calls into its own middle, as return address tricks do, or is too large.
    pub(super) is_partial: bool,
    /// Number of decoded instructions.
    pub(super) cost: usize,
}

/// Maximum number of exits.
const MAX_EXITS: usize = 256;

impl Jumps {
    /// Finds the exits of the code of an FDE.
    pub(super) fn of(described: FdeRange, mut steps: FlowDecoder<'_>) -> Self {
        let mut found = Self::default();
        // The last instruction, if execution continues after it.
        let mut last = None;
        loop {
            let skipped = steps.skip_within(described.start, described.end);
            found.cost += skipped.n_instructions;
            if skipped.n_instructions > 0 {
                last = skipped.continues_at;
            }
            let Some(step) = steps.next() else { break };
            found.cost += 1;
            found.add(step, described);
            last = matches!(step.flow, Flow::Next | Flow::Branch(_)).then_some(step.at);
        }
        if let Some(site) = last {
            found.exits.push(CodeExit { site, to: ExitTarget::Following });
        }
        found.is_partial |= found.exits.len() > MAX_EXITS;
        found.exits.truncate(MAX_EXITS);
        found
    }

    fn add(&mut self, step: FlowStep, described: FdeRange) {
        let is_inside = |target: u64| described.contains(described.file, target);
        let to = match step.flow {
            Flow::Jump(target) if !is_inside(target) => ExitTarget::Code(target, BranchKind::Jump),
            Flow::Branch(target) if !is_inside(target) => {
                ExitTarget::Code(target, BranchKind::Branch)
            }
            Flow::JumpSlot(slot) => ExitTarget::Slot(slot),
            Flow::JumpIndirect => ExitTarget::Computed,
            Flow::Call(target) => {
                let is_trick =
                    is_inside(target) && target != described.start && target != step.next;
                self.is_partial |= is_trick;
                return;
            }
            _ => return,
        };
        self.exits.push(CodeExit { site: step.at, to });
    }
}
