//! Exits of the code of one FDE.

use unwinder::{Flow, FlowDecoder, FlowStep};

use crate::tails::files::{By, Described};

/// An instruction that leaves the range of its FDE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Leaving {
    /// Address of the instruction.
    pub(super) site: u64,
    pub(super) to: LeavesTo,
}

/// Target of an exit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LeavesTo {
    /// A code address.
    Code(u64, By),
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
    pub(super) leavings: Vec<Leaving>,
    /// True if some are unknown: the code calls into its own middle, as return address tricks do, or is too large.
    pub(super) is_partial: bool,
    /// Number of decoded instructions.
    pub(super) cost: usize,
}

/// Maximum number of exits.
const MOST_LEAVINGS: usize = 256;

impl Jumps {
    /// Finds the exits of the code of an FDE.
    pub(super) fn of(described: Described, mut steps: FlowDecoder<'_>) -> Self {
        let mut found = Self::default();
        // The last instruction, if execution continues after it.
        let mut last = None;
        loop {
            let passed = steps.skip_within(described.start, described.end);
            found.cost += passed.n_instructions;
            if passed.n_instructions > 0 {
                last = passed.continues_at;
            }
            let Some(step) = steps.next() else { break };
            found.cost += 1;
            found.add(step, described);
            last = matches!(step.flow, Flow::Next | Flow::Branch(_)).then_some(step.at);
        }
        if let Some(site) = last {
            found.leavings.push(Leaving { site, to: LeavesTo::Following });
        }
        found.is_partial |= found.leavings.len() > MOST_LEAVINGS;
        found.leavings.truncate(MOST_LEAVINGS);
        found
    }

    fn add(&mut self, step: FlowStep, described: Described) {
        let is_inside = |target: u64| described.contains(described.file, target);
        let to = match step.flow {
            Flow::Jump(target) if !is_inside(target) => LeavesTo::Code(target, By::Jump),
            Flow::Branch(target) if !is_inside(target) => LeavesTo::Code(target, By::Branch),
            Flow::JumpSlot(slot) => LeavesTo::Slot(slot),
            Flow::JumpIndirect => LeavesTo::Computed,
            Flow::Call(target) => {
                let is_trick =
                    is_inside(target) && target != described.start && target != step.next;
                self.is_partial |= is_trick;
                return;
            }
            _ => return,
        };
        self.leavings.push(Leaving { site: step.at, to });
    }
}
