//! Where the code of one frame description goes on outside of it.

use unwinder::{Flow, FlowDecoder, FlowStep};

use crate::tails::files::{By, Described};

/// A place where code leaves its frame description.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Leaving {
    /// The address of the instruction.
    pub(super) site: u64,
    pub(super) to: LeavesTo,
}

/// Where code goes that leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LeavesTo {
    /// To an address.
    Code(u64, By),
    /// To what the word there leads to.
    Slot(u64),
    /// To an address that a register or a computed word has; perhaps inside of the description.
    Computed,
    /// To the code that follows the description.
    Following,
}

/// All places where the code of a frame description leaves it.
#[derive(Default, Debug)]
pub(super) struct Jumps {
    pub(super) leavings: Vec<Leaving>,
    /// Not all of them are known: code is called in its middle, as tricks with return addresses do, or is too large.
    pub(super) is_partial: bool,
    /// How many instructions were decoded.
    pub(super) cost: usize,
}

/// Places of one description.
const MOST_LEAVINGS: usize = 256;

impl Jumps {
    /// Those of the code of a description.
    pub(super) fn of(described: Described, mut steps: FlowDecoder<'_>) -> Self {
        let mut found = Self::default();
        // The last instruction, if code goes on behind it.
        let mut last = None;
        loop {
            let passed = steps.pass_within(described.start, described.end);
            found.cost += passed.n_instructions;
            if passed.n_instructions > 0 {
                last = passed.goes_on;
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
