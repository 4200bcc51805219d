//! Weights of each function in each recording: own and inclusive.

use super::matching::DiffFunctionId;
use super::tree::{DiffLabel, DiffNodeId, UnionTree};
use super::weight::DiffWeight;
use crate::tables::Table;

/// Weights of functions in a recording.
#[derive(Debug)]
pub(super) struct RunCosts {
    /// By function: samples with it as their innermost function.
    pub(super) own: Table<DiffFunctionId, DiffWeight>,
    /// By function: samples with it on their stack, counted once per sample.
    pub(super) inclusive: Table<DiffFunctionId, DiffWeight>,
    /// By function: cost of its frames; a sample counts once for each of them.
    frames: Table<DiffFunctionId, f64>,
}

impl RunCosts {
    /// Returns the weight of a function.
    pub(super) fn of(&self, function: DiffFunctionId, inclusive: bool) -> DiffWeight {
        let costs = if inclusive { &self.inclusive } else { &self.own };
        costs.get(function).copied().unwrap_or_default()
    }

    /// Cost of a function's frames.
    pub(super) fn frames(&self, function: DiffFunctionId) -> f64 {
        self.frames.get(function).copied().unwrap_or(0.0)
    }
}

/// Returns, by recording, the weights of the functions.
pub(super) fn run_costs(tree: &UnionTree, functions: usize) -> Vec<RunCosts> {
    let outermost = tree.is_outermost();
    let of_run = |run| {
        let mut subtrees: Table<DiffNodeId, DiffWeight> =
            tree.nodes.ids().map(|node| tree.own_weight(run, node)).collect();
        let none = || Table::from_vec(vec![DiffWeight::default(); functions]);
        let frames = Table::from_vec(vec![0.0; functions]);
        let mut costs = RunCosts { own: none(), inclusive: none(), frames };
        // Parents precede their children, so a reverse pass visits a node after its whole subtree is added.
        for (node, &(parent, label)) in tree.nodes.entries().rev() {
            let all = subtrees.get(node).copied().unwrap_or_default();
            if let Some(sum) = parent.and_then(|parent| subtrees.get_mut(parent)) {
                sum.add(all);
            }
            let DiffLabel::Function(function) = label else { continue };
            if let Some(own) = costs.own.get_mut(function) {
                own.add(tree.own_weight(run, node));
            }
            if let Some(sum) = costs.frames.get_mut(function) {
                *sum += all.cost as f64;
            }
            let is_outermost = outermost.get(node).copied().unwrap_or(false);
            if let Some(sum) = costs.inclusive.get_mut(function).filter(|_| is_outermost) {
                sum.add(all);
            }
        }
        costs
    };
    (0..tree.own.len()).map(of_run).collect()
}
