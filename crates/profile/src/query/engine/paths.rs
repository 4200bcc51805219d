//! The paths of stacks as a tree, whose nodes come after those that they are below, in order of the first stack that has
//! them. Nodes of which each is all that is below the one before it, with no stack that ends between them, are a run:
//! what is counted at one of them is counted at all, so that a pass over the runs from the last to the first adds up what
//! is below each.

use std::ops::Range;

use hashbrown::HashMap;

use crate::query::cost::Cost;

/// No node, no run; as an order, that of nothing that was counted.
pub(super) const NONE: u32 = u32::MAX;

/// A tree of paths.
#[derive(Debug, Default)]
pub(super) struct Paths {
    /// By node: what is there, a number that those who made the tree gave.
    codes: Vec<u32>,
    /// By run: its first node; those of the next run follow.
    starts: Vec<u32>,
    /// By run: the one whose last node it is below, or [`NONE`].
    parents: Vec<u32>,
    /// By run: how many nodes are above its first.
    depths: Vec<u32>,
    /// By stack: the run at whose end it ends; [`NONE`] where nothing of it is in the tree.
    ends: Vec<u32>,
}

/// The costs of runs with all that is below them.
#[derive(Debug)]
pub(super) struct Totals {
    /// By run.
    pub(super) costs: Vec<Cost>,
    /// By run: the number of the first stack that was counted there; [`NONE`] for none.
    pub(super) firsts: Vec<u32>,
}

impl Paths {
    /// Of nodes, by what they are below and what is there, and of the nodes that stacks end at.
    pub(super) fn of(nodes: Nodes) -> Self {
        let Nodes { parents, codes, ends } = nodes;
        // Whether a run ends at a node.
        let mut is_last = vec![false; codes.len()];
        let mut mark = |node: u32| {
            if let Some(is_last) = is_last.get_mut(node as usize) {
                *is_last = true;
            }
        };
        ends.iter().for_each(|&end| mark(end));
        for (node, &parent) in (0_u32..).zip(&parents) {
            if parent.wrapping_add(1) != node {
                mark(parent);
                mark(node.wrapping_sub(1));
            }
        }
        let mut paths = Self { codes, ..Self::default() };
        let mut runs: Vec<u32> = Vec::with_capacity(parents.len());
        let mut is_first = true;
        for ((node, &parent), &is_last) in (0_u32..).zip(&parents).zip(&is_last) {
            if is_first {
                let above = at(&runs, parent);
                paths.starts.push(node);
                paths.depths.push(paths.end_depth(above));
                paths.parents.push(above);
            }
            runs.push(paths.starts.len() as u32 - 1);
            is_first = is_last;
        }
        paths.ends = ends.iter().map(|&end| at(&runs, end)).collect();
        for column in [&mut paths.codes, &mut paths.starts, &mut paths.parents, &mut paths.depths] {
            column.shrink_to_fit();
        }
        paths
    }

    /// How many nodes are above those below a run.
    fn end_depth(&self, run: u32) -> u32 {
        let nodes = self.nodes(run);
        if run == NONE { 0 } else { self.depth(run) + (nodes.end - nodes.start) as u32 }
    }

    /// The number of nodes.
    pub(super) const fn len(&self) -> usize {
        self.codes.len()
    }

    /// The runs, those above before those below.
    pub(super) fn runs(&self) -> Range<u32> {
        0..self.starts.len() as u32
    }

    /// The nodes of a run, the outermost first.
    pub(super) fn nodes(&self, run: u32) -> Range<usize> {
        let start = |run: u32| self.starts.get(run as usize).map(|&start| start as usize);
        let first = start(run).unwrap_or(self.codes.len());
        first..start(run.saturating_add(1)).unwrap_or(self.codes.len())
    }

    /// What is at the nodes of a run, the outermost first.
    pub(super) fn codes(&self, run: u32) -> &[u32] {
        self.codes.get(self.nodes(run)).unwrap_or_default()
    }

    /// The nodes of a run with their codes, the outermost first.
    pub(super) fn coded_nodes(&self, run: u32) -> impl DoubleEndedIterator<Item = (usize, &u32)> {
        self.nodes(run).zip(self.codes(run))
    }

    /// The code of a node.
    pub(super) fn code(&self, node: u32) -> u32 {
        at(&self.codes, node)
    }

    /// How many nodes are above the first of a run.
    pub(super) fn depth(&self, run: u32) -> u32 {
        at(&self.depths, run)
    }

    /// The run that a run is below; [`NONE`] for none, and of none.
    pub(super) fn parent(&self, run: u32) -> u32 {
        at(&self.parents, run)
    }

    /// The run that a stack ends at.
    pub(super) fn end(&self, stack: u32) -> u32 {
        at(&self.ends, stack)
    }

    /// How many stacks there are.
    pub(super) const fn stacks(&self) -> u32 {
        self.ends.len() as u32
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let columns = [&self.codes, &self.starts, &self.parents, &self.depths, &self.ends];
        columns.iter().map(|column| column.capacity() * size_of::<u32>()).sum()
    }

    /// Adds up the costs of stacks, at the runs where they end and at those above; they are numbered as they come.
    pub(super) fn totals(&self, counted: impl Iterator<Item = (u32, Cost)>) -> Totals {
        let mut costs = vec![Cost::default(); self.starts.len()];
        let mut firsts = vec![NONE; self.starts.len()];
        for (order, (stack, cost)) in (0..).zip(counted) {
            let end = self.end(stack) as usize;
            if let Some((sum, first)) = costs.get_mut(end).zip(firsts.get_mut(end)) {
                sum.add(cost);
                *first = order.min(*first);
            }
        }
        for (run, &parent) in self.parents.iter().enumerate().rev() {
            let Some((&cost, &first)) = costs.get(run).zip(firsts.get(run)) else { continue };
            let above = costs.get_mut(parent as usize).zip(firsts.get_mut(parent as usize));
            if let Some((sum, earliest)) = above.filter(|_| first != NONE) {
                sum.add(cost);
                *earliest = first.min(*earliest);
            }
        }
        Totals { costs, firsts }
    }

    /// By node: whether no node above it has the same key. `key` takes a node and its code, and gives a number below
    /// `n_keys`; nodes without a key are passed over.
    pub(super) fn outermost(
        &self,
        n_keys: usize,
        key: impl Fn(usize, u32) -> Option<u32>,
    ) -> Vec<bool> {
        let mut counts = vec![0_u32; n_keys];
        // Changes the number of nodes with a key on the path, and returns it.
        let mut change = |(node, &code): (usize, &u32), by: i32| {
            let count = key(node, code).and_then(|key| counts.get_mut(key as usize))?;
            *count = count.wrapping_add_signed(by);
            Some(*count)
        };
        // The runs from the root on to the last one, each by where it is on the path.
        let mut path: Vec<u32> = Vec::new();
        let mut levels: Vec<u32> = Vec::with_capacity(self.starts.len());
        let mut missing = Vec::new();
        let mut outermost = Vec::with_capacity(self.codes.len());
        for run in self.runs() {
            let mut above = self.parent(run);
            levels.push(levels.get(above as usize).map_or(0, |level| level + 1));
            while above != NONE && path.get(at(&levels, above) as usize) != Some(&above) {
                missing.push(above);
                above = self.parent(above);
            }
            let kept = if above == NONE { 0 } else { at(&levels, above) as usize + 1 };
            for node in path.drain(kept..).flat_map(|gone| self.coded_nodes(gone)) {
                change(node, -1);
            }
            for entered in missing.drain(..).rev() {
                path.push(entered);
                for node in self.coded_nodes(entered) {
                    change(node, 1);
                }
            }
            path.push(run);
            outermost.extend(self.coded_nodes(run).map(|node| change(node, 1) == Some(1)));
        }
        outermost
    }
}

fn at(column: &[u32], row: u32) -> u32 {
    column.get(row as usize).copied().unwrap_or(NONE)
}

/// The nodes of a tree that is being made.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    /// By node: the one that it is below, or [`NONE`].
    parents: Vec<u32>,
    codes: Vec<u32>,
    /// By stack: the node that it ends at, or [`NONE`].
    ends: Vec<u32>,
}

impl Nodes {
    /// Adds a node, whatever is there already.
    pub(super) fn push(&mut self, parent: u32, code: u32) -> u32 {
        self.parents.push(parent);
        self.codes.push(code);
        self.codes.len() as u32 - 1
    }

    /// The next stack ends at that node.
    pub(super) fn end_at(&mut self, node: u32) {
        self.ends.push(node);
    }
}

/// A tree in which no two nodes below one have the same code. Most nodes have one below them at most, which takes no
/// table.
#[derive(Debug, Default)]
pub(super) struct MergedNodes {
    nodes: Nodes,
    /// By node: the first below it.
    first: Vec<u32>,
    others: HashMap<(u32, u32), u32>,
}

impl MergedNodes {
    /// The node below `parent` that has `code`, which is made where there is none.
    pub(super) fn below(&mut self, parent: u32, code: u32) -> u32 {
        let Self { nodes, first, others } = self;
        let node = match first.get_mut(parent as usize) {
            Some(first) if *first == NONE => {
                *first = nodes.push(parent, code);
                *first
            }
            Some(first) if at(&nodes.codes, *first) == code => return *first,
            _ => *others.entry((parent, code)).or_insert_with(|| nodes.push(parent, code)),
        };
        if node as usize == first.len() {
            first.push(NONE);
        }
        node
    }

    /// The nearest node whose code `is` accepts, from a node outwards.
    pub(super) fn nearest(&self, mut node: u32, is: impl Fn(u32) -> bool) -> Option<u32> {
        while let Some(&code) = self.nodes.codes.get(node as usize) {
            if is(code) {
                return Some(node);
            }
            node = at(&self.nodes.parents, node);
        }
        None
    }

    /// The next stack ends at that node.
    pub(super) fn end_at(&mut self, node: u32) {
        self.nodes.end_at(node);
    }

    /// The tree.
    pub(super) fn done(self) -> Paths {
        let Self { nodes, .. } = self;
        Paths::of(nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of stacks, each with its codes from the outermost on.
    fn merged(stacks: &[&[u32]]) -> Paths {
        let mut nodes = MergedNodes::default();
        for stack in stacks {
            let end = stack.iter().fold(NONE, |at, &code| nodes.below(at, code));
            nodes.end_at(end);
        }
        nodes.done()
    }

    #[test]
    fn stacks_share_what_is_the_same_from_outside() {
        let stacks: [&[u32]; 7] =
            [&[1, 2, 1], &[1, 3, 5], &[2, 6], &[], &[1, 2, 4], &[1, 3, 5], &[2]];
        let paths = merged(&stacks);
        assert_eq!(paths.codes, [1, 2, 1, 3, 5, 2, 6, 4]);
        assert_eq!(paths.starts, [0, 1, 2, 3, 5, 6, 7]);
        assert_eq!(paths.parents, [NONE, 0, 1, 0, NONE, 4, 1]);
        assert_eq!(paths.depths, [0, 1, 2, 1, 0, 1, 2]);
        assert_eq!(paths.ends, [2, 3, 5, NONE, 6, 3, 4]);
        assert_eq!(
            (paths.nodes(3), paths.codes(3), paths.codes(NONE)),
            (3..5, &[3, 5][..], &[][..])
        );
        let counted = [(5, 10), (3, 50), (1, 100), (0, u64::MAX), (6, 7)];
        let totals = paths.totals(
            counted.map(|(stack, weight)| (stack, Cost { samples: 1, weight })).into_iter(),
        );
        let weights: Vec<u64> = totals.costs.iter().map(|cost| cost.weight).collect();
        assert_eq!(weights, [u64::MAX, u64::MAX, u64::MAX, 110, 7, 0, 0]);
        let samples: Vec<u64> = totals.costs.iter().map(|cost| cost.samples).collect();
        assert_eq!(samples, [3, 1, 1, 2, 1, 0, 0]);
        assert_eq!(totals.firsts, [0, 3, 3, 0, 4, NONE, NONE]);
        let all = paths.outermost(7, |_, code| Some(code));
        assert_eq!(all, [true, true, false, true, true, true, true, true]);
        let without = paths.outermost(7, |_, code| (code != 2).then_some(0));
        assert_eq!(without, [true, false, false, false, false, false, true, false]);
    }
}
