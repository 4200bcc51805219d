//! The tree of calls.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Rows;
use super::paths::NONE;
use super::selection::Selection;
use crate::id::RowId as _;
use crate::query::functions::FunctionId;
use hashbrown::HashMap;

/// Which tree is wanted, and how much of it.
#[derive(Clone, Copy, Debug)]
pub struct TreeShape {
    /// Whether the innermost functions are the roots.
    pub inverted: bool,
    /// Levels at most.
    pub depth: Option<usize>,
    /// The least cost of a node.
    pub least: u64,
    /// Nodes at most.
    pub most: usize,
}

/// A node of the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TreeRow {
    /// The row of the node above it.
    pub parent: Option<usize>,
    /// How many nodes are above it.
    pub depth: usize,
    /// The function.
    pub function: FunctionId,
    /// The weight of samples that end there.
    pub own: u64,
    /// The weight of samples that pass there.
    pub inclusive: u64,
}

/// A node, by what it costs and, of those that cost the same, by when its first stack came and how deep it is in that; with
/// its number and its run.
type Ranked = (Reverse<u64>, u32, u32, u32, u32);

/// The rows of the nodes, a parent before its children; nodes that cost too little or lie too deep are left out with
/// their subtrees.
#[must_use]
pub fn tree(selection: &Selection<'_>, shape: TreeShape) -> Rows<TreeRow> {
    let shows = |function: FunctionId| selection.shows(function);
    let is_shown: Option<&dyn Fn(FunctionId) -> bool> =
        if selection.shows_all() { None } else { Some(&shows) };
    let tree = selection.index.tree(shape.inverted, is_shown);
    let totals = tree.totals(selection.counted.iter().map(|it| (it.stack, it.weight)));
    let deepest = shape.depth.map_or(u32::MAX, |depth| u32::try_from(depth).unwrap_or(u32::MAX));
    let mut all = 0;
    // The last of those that are kept is on the top.
    let mut kept: BinaryHeap<Ranked> = BinaryHeap::new();
    for ((run, &weight), &first) in tree.runs().zip(&totals.weights).zip(&totals.firsts) {
        if first == NONE {
            continue;
        }
        all += tree.nodes(run).len();
        if weight < shape.least {
            continue;
        }
        for (node, depth) in tree.nodes(run).zip(tree.depth(run)..deepest) {
            // A parent costs no less than its children and is less deep, so that it stays where they do.
            let ranked = (Reverse(weight), first, depth, node as u32, run);
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
        |run: u32| tree.nodes(run).last().and_then(|node| places.get(&(node as u32)).copied());
    let mut own = vec![0_u64; kept.len()];
    let place_of: HashMap<u32, usize> =
        kept.iter().filter_map(|it| Some((it.4, last(it.4)?))).collect();
    for it in &selection.counted {
        let place = place_of.get(&tree.end(it.stack));
        if let Some(own) = place.and_then(|&place| own.get_mut(place)) {
            *own = own.saturating_add(it.weight);
        }
    }
    let rows = kept.iter().zip(own).map(|(&(Reverse(inclusive), _, depth, node, run), own)| {
        let is_first = tree.nodes(run).start == node as usize;
        let above =
            if is_first { last(tree.parent(run)) } else { places.get(&(node - 1)).copied() };
        let function = FunctionId::from_index(tree.code(node) as usize);
        TreeRow { parent: above, depth: depth as usize, function, own, inclusive }
    });
    let rows: Vec<TreeRow> = rows.collect();
    let cut = all - rows.len();
    (rows, cut)
}
