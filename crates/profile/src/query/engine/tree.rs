//! The call tree.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::LimitedRows;
use super::call_paths::{CallLabel, CallPaths};
use super::paths::NONE;
use super::sample_sets::Ending;
use super::selection::{Selection, SetCost};
use crate::query::cost::Cost;
use hashbrown::HashMap;
use std::sync::Arc;

/// Kind and size of the requested tree.
#[derive(Clone, Copy, Debug)]
pub struct TreeShape {
    /// Whether the innermost functions are the roots.
    pub inverted: bool,
    /// Whether stacks without their root are below one [`CallLabel::Truncated`]. Inverted trees ignore this.
    pub truncated: bool,
    /// Maximum number of levels.
    pub depth: Option<usize>,
    /// Minimum weight of a node.
    pub least: u64,
    /// Maximum number of nodes.
    pub most: usize,
}

/// A node of the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TreeRow {
    /// Row of its parent.
    pub parent: Option<usize>,
    /// Number of ancestors.
    pub depth: usize,
    /// The function, or the label of truncated stacks.
    pub label: CallLabel,
    /// Cost of samples that end at the node.
    pub own: Cost,
    /// Cost of samples that pass through the node.
    pub inclusive: Cost,
}

/// A node's order: decreasing cost, then number of its first stack and depth in it; followed by the node and its run.
type Ranked = (Reverse<u64>, u32, u32, u32, u32);

/// Returns the rows of the nodes; parents precede children. Nodes of too little cost or too great depth are omitted
/// with their subtrees.
#[must_use]
pub fn tree(selection: &Selection<'_>, shape: TreeShape) -> LimitedRows<TreeRow> {
    let tree = call_paths(selection, shape);
    let stack = |it: &SetCost<'_>| tree.stack(it.set.stack, it.set.ending == Ending::Truncated);
    let counted = selection.counted.iter().map(|it| (stack(it), it.cost));
    let paths = &tree.paths;
    let totals = paths.totals(counted.clone());
    let deepest = shape.depth.map_or(u32::MAX, |depth| u32::try_from(depth).unwrap_or(u32::MAX));
    let mut all = 0;
    // The last of the retained nodes is at the top of the heap.
    let mut kept: BinaryHeap<Ranked> = BinaryHeap::new();
    for ((run, &cost), &first) in paths.runs().zip(&totals.costs).zip(&totals.firsts) {
        if first == NONE {
            continue;
        }
        all += paths.nodes(run).len();
        if cost.weight < shape.least {
            continue;
        }
        for (node, depth) in paths.nodes(run).zip(paths.depth(run)..deepest) {
            // A parent costs at least as much as its children and is less deep, so it is retained if they are.
            let ranked = (Reverse(cost.weight), first, depth, node as u32, run);
            if kept.len() < shape.most {
                kept.push(ranked);
            } else if let Some(mut last) = kept.peek_mut()
                && ranked < *last
            {
                *last = ranked;
            } else {
                break;
            }
        }
    }
    let mut kept = kept.into_vec();
    kept.sort_unstable_by_key(|&(_, first, depth, ..)| (first, depth));
    let places: HashMap<u32, usize> = kept.iter().map(|it| it.3).zip(0..).collect();
    // Stacks end at the last nodes of runs.
    let last =
        |run: u32| paths.nodes(run).last().and_then(|node| places.get(&(node as u32)).copied());
    let mut own = vec![Cost::default(); kept.len()];
    let place_of: HashMap<u32, usize> =
        kept.iter().filter_map(|it| Some((it.4, last(it.4)?))).collect();
    for (stack, cost) in counted {
        let place = place_of.get(&paths.end(stack));
        if let Some(own) = place.and_then(|&place| own.get_mut(place)) {
            own.add(cost);
        }
    }
    let rows = kept.iter().zip(own).map(|(&(_, _, depth, node, run), own)| {
        let is_first = paths.nodes(run).start == node as usize;
        let parent =
            if is_first { last(paths.parent(run)) } else { places.get(&(node - 1)).copied() };
        let inclusive = totals.costs.get(run as usize).copied().unwrap_or_default();
        TreeRow { parent, depth: depth as usize, label: tree.label(node), own, inclusive }
    });
    let rows: Vec<TreeRow> = rows.collect();
    let cut = all - rows.len();
    (rows, cut)
}

/// Returns the tree of a selection: the cached one of the index, or one of only the selected stacks.
fn call_paths(selection: &Selection<'_>, shape: TreeShape) -> Arc<CallPaths> {
    let has_truncated = shape.truncated && !shape.inverted;
    if selection.view.is_whole() && !has_truncated {
        return selection.index.tree(shape.inverted);
    }
    let stacks = selection.view.paths().stacks() as usize;
    let mut wanted = vec![vec![false; stacks]; if has_truncated { 2 } else { 1 }];
    for it in &selection.counted {
        let is_truncated = has_truncated && it.set.ending == Ending::Truncated;
        let of_root = wanted.get_mut(usize::from(is_truncated));
        if let Some(wanted) = of_root.and_then(|stacks| stacks.get_mut(it.set.stack as usize)) {
            *wanted = true;
        }
    }
    Arc::new(CallPaths::new(&selection.view, &wanted, shape.inverted))
}
