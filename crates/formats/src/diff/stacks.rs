//! The stacks of a difference with their own costs, on the scale of the candidate's recordings.

use profile::StringId;
use profile::query::diff::{Diff, DiffCost, DiffFunctionId, DiffLabel, DiffNodeId};

/// A stack, with the samples and costs that end at it.
#[derive(Debug)]
pub(super) struct DiffStack {
    /// Name of its threads.
    pub(super) thread: Option<StringId>,
    /// Whether it lacks its root.
    pub(super) truncated: bool,
    /// Its functions, innermost first.
    pub(super) functions: Vec<DiffFunctionId>,
    /// Samples, and then costs, before and after.
    pub(super) samples: [u64; 2],
    pub(super) costs: [u64; 2],
}

/// Returns all stacks that are the leaf of a sample before or after. Costs before are scaled to the time, total or work
/// of the recordings after. The sum of several recordings after is unchanged.
pub(super) fn stacks(diff: &Diff) -> Vec<DiffStack> {
    let total = diff.total.after;
    let scale = if total.value > 0.0 { total.cost as f64 / total.value } else { 0.0 };
    let scaled = |cost: DiffCost| {
        let scaled = cost.value * scale;
        let ratio = if cost.cost == 0 { 0.0 } else { scaled / cost.cost as f64 };
        ((cost.samples as f64 * ratio).round() as u64, scaled.round() as u64)
    };
    let mut stacks = Vec::new();
    for (id, node) in diff.tree.entries() {
        if node.before.samples == 0 && node.after.samples == 0 {
            continue;
        }
        let (samples_before, cost_before) = scaled(node.before);
        let (samples_after, cost_after) = scaled(node.after);
        let mut stack = DiffStack {
            thread: None,
            truncated: false,
            functions: Vec::new(),
            samples: [samples_before, samples_after],
            costs: [cost_before, cost_after],
        };
        follow(diff, id, &mut stack);
        stacks.push(stack);
    }
    stacks
}

/// Stores the labels on the path from a node to its root in `stack`.
fn follow(diff: &Diff, node: DiffNodeId, stack: &mut DiffStack) {
    let mut next = Some(node);
    while let Some(id) = next
        && let Some(node) = diff.tree.get(id)
    {
        match node.label {
            DiffLabel::Thread(name) => stack.thread = Some(name),
            DiffLabel::Truncated => stack.truncated = true,
            DiffLabel::Function(function) => stack.functions.push(function),
        }
        next = node.parent.filter(|&parent| parent < id);
    }
}
