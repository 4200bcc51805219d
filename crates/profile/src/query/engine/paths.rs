//! Paths of stacks as a tree. A node follows its parent; nodes are in the order of the first stack that contains them.
//! A run is a maximal chain of nodes such that each is the only child of the previous one and no stack ends in between.
//! All nodes of a run therefore have equal inclusive costs. One pass over the runs in reverse order computes them all.

use std::ops::Range;

use hashbrown::HashMap;

use crate::query::cost::Cost;

/// No node or run. As an order, it means that nothing was counted.
pub(super) const NONE: u32 = u32::MAX;

/// A tree of paths.
#[derive(Debug, Default)]
pub(super) struct Paths {
    /// By node: its code, assigned by the builder of the tree.
    codes: Vec<u32>,
    /// By run: its first node; its nodes end at the first node of the next run.
    starts: Vec<u32>,
    /// By run: its parent run, or [`NONE`].
    parents: Vec<u32>,
    /// By run: number of ancestors of its first node.
    depths: Vec<u32>,
    /// By stack: the run at which it ends; [`NONE`] if it has no node in the tree.
    ends: Vec<u32>,
}

/// Inclusive costs of runs.
#[derive(Debug)]
pub(super) struct Totals {
    /// By run.
    pub(super) costs: Vec<Cost>,
    /// By run: number of the first stack counted there; [`NONE`] for none.
    pub(super) firsts: Vec<u32>,
}

impl Paths {
    /// Splits the nodes into runs.
    pub(super) fn of(nodes: Nodes) -> Self {
        let Nodes { parents, codes, ends } = nodes;
        // By node: whether a run ends there.
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

    /// Returns the number of ancestors of a node below the end of `run`.
    fn end_depth(&self, run: u32) -> u32 {
        let nodes = self.nodes(run);
        if run == NONE { 0 } else { self.depth(run) + (nodes.end - nodes.start) as u32 }
    }

    /// Number of nodes.
    pub(super) const fn len(&self) -> usize {
        self.codes.len()
    }

    /// Iterates over the runs; parents precede children.
    pub(super) fn runs(&self) -> Range<u32> {
        0..self.starts.len() as u32
    }

    /// Range of the nodes of a run, outermost first.
    pub(super) fn nodes(&self, run: u32) -> Range<usize> {
        let start = |run: u32| self.starts.get(run as usize).map(|&start| start as usize);
        let first = start(run).unwrap_or(self.codes.len());
        first..start(run.saturating_add(1)).unwrap_or(self.codes.len())
    }

    /// Codes of the nodes of a run, outermost first.
    pub(super) fn codes(&self, run: u32) -> &[u32] {
        self.codes.get(self.nodes(run)).unwrap_or_default()
    }

    /// Iterates over the nodes of a run with their codes, outermost first.
    pub(super) fn coded_nodes(&self, run: u32) -> impl DoubleEndedIterator<Item = (usize, &u32)> {
        self.nodes(run).zip(self.codes(run))
    }

    /// Code of a node.
    pub(super) fn code(&self, node: u32) -> u32 {
        at(&self.codes, node)
    }

    /// Number of ancestors of a run's first node.
    pub(super) fn depth(&self, run: u32) -> u32 {
        at(&self.depths, run)
    }

    /// Parent of a run; [`NONE`] if there is none, or if `run` is [`NONE`].
    pub(super) fn parent(&self, run: u32) -> u32 {
        at(&self.parents, run)
    }

    /// The run at which a stack ends.
    pub(super) fn end(&self, stack: u32) -> u32 {
        at(&self.ends, stack)
    }

    /// Number of stacks.
    pub(super) const fn stacks(&self) -> u32 {
        self.ends.len() as u32
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let columns = [&self.codes, &self.starts, &self.parents, &self.depths, &self.ends];
        columns.iter().map(|column| column.capacity() * size_of::<u32>()).sum()
    }

    /// Sums the costs of stacks at their last runs and at all ancestors. Stacks are numbered in the given order.
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

    /// Returns, by node, whether no ancestor has the same key. `key` maps a node and its code to a number below
    /// `n_keys`; nodes without a key are ignored.
    pub(super) fn outermost(
        &self,
        n_keys: usize,
        key: impl Fn(usize, u32) -> Option<u32>,
    ) -> Vec<bool> {
        let mut counts = vec![0_u32; n_keys];
        // Changes the number of nodes on the path with a node's key, and returns it.
        let mut change = |(node, &code): (usize, &u32), by: i32| {
            let count = key(node, code).and_then(|key| counts.get_mut(key as usize))?;
            *count = count.wrapping_add_signed(by);
            Some(*count)
        };
        // Runs from the root to the previous run; `levels` has the position of each run on its path.
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

/// Nodes of a tree that is being built.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    /// By node: its parent, or [`NONE`].
    parents: Vec<u32>,
    codes: Vec<u32>,
    /// By stack: the node at which it ends, or [`NONE`].
    ends: Vec<u32>,
}

impl Nodes {
    /// Returns an empty tree with room for some nodes.
    pub(super) fn with_capacity(nodes: usize) -> Self {
        Self {
            parents: Vec::with_capacity(nodes),
            codes: Vec::with_capacity(nodes),
            ends: Vec::new(),
        }
    }

    /// Adds a node, even if its parent already has a child with this code.
    pub(super) fn push(&mut self, parent: u32, code: u32) -> u32 {
        self.parents.push(parent);
        self.codes.push(code);
        self.codes.len() as u32 - 1
    }

    /// Adds a stack that ends at `node`.
    pub(super) fn end_at(&mut self, node: u32) {
        self.ends.push(node);
    }
}

/// A tree in which the children of a node have distinct codes. Most nodes have at most one child, and need no hash
/// table entry.
#[derive(Debug, Default)]
pub(super) struct MergedNodes {
    nodes: Nodes,
    /// By node: its first child.
    first: Vec<u32>,
    others: HashMap<(u32, u32), u32>,
}

impl MergedNodes {
    /// Returns the child of `parent` with `code`, adding it if there is none.
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

    /// Number of nodes; a parent precedes its children.
    pub(super) const fn len(&self) -> usize {
        self.first.len()
    }

    /// Returns the parent of a node; [`NONE`] if there is none.
    pub(super) fn parent(&self, node: u32) -> u32 {
        at(&self.nodes.parents, node)
    }

    /// Returns the code of a node; [`NONE`] if there is no node.
    pub(super) fn code(&self, node: u32) -> u32 {
        at(&self.nodes.codes, node)
    }

    /// Returns the nearest node, from `node` outwards, with a code that `is` accepts.
    pub(super) fn nearest(&self, mut node: u32, is: impl Fn(u32) -> bool) -> Option<u32> {
        while let Some(&code) = self.nodes.codes.get(node as usize) {
            if is(code) {
                return Some(node);
            }
            node = at(&self.nodes.parents, node);
        }
        None
    }

    /// Adds a stack that ends at `node`.
    pub(super) fn end_at(&mut self, node: u32) {
        self.nodes.end_at(node);
    }

    /// Returns the finished tree.
    pub(super) fn done(self) -> Paths {
        let Self { nodes, .. } = self;
        Paths::of(nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the merged tree of stacks, each given by its codes, outermost first.
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
