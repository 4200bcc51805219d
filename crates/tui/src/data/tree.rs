//! A call tree with open and closed nodes.

use std::cmp::Reverse;

use hashbrown::HashSet;
use profile::query::FunctionId;
use profile::query::engine::TreeRow;

use super::results::function_of;
use super::snapshot::Snapshot;

/// Key of the node of truncated stacks.
const TRUNCATED: u64 = 0x7472_756e;

/// Nodes of a call tree, and those that are shown.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) rows: Vec<TreeRow>,
    /// Number of omitted nodes.
    pub(crate) omitted: usize,
    /// By node: its key, made of the functions from the root to it.
    keys: Vec<u64>,
    /// By node: the number of ancestors with several children.
    levels: Vec<u32>,
    roots: Vec<u32>,
    /// By node: its children, sorted by decreasing cost.
    children: Vec<Vec<u32>>,
    /// By node, whether it passes the text filter; `None` if all do.
    pub(crate) passes: Option<Vec<bool>>,
    /// The shown nodes, in order.
    pub(crate) shown: Vec<u32>,
}

/// Keys of the open nodes of a tree, which outlive the tree.
pub(crate) type OpenNodes = HashSet<u64>;

impl Tree {
    /// Sorts the nodes of a tree.
    pub(crate) fn new(data: &Snapshot, rows: Vec<TreeRow>, omitted: usize) -> Self {
        let mut keys: Vec<u64> = Vec::with_capacity(rows.len());
        let mut roots = Vec::new();
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); rows.len()];
        for (at, row) in (0_u32..).zip(&rows) {
            let own = function_of(row).map_or(TRUNCATED, |function| data.key(function));
            let parent = row.parent.and_then(|parent| keys.get(parent)).copied();
            keys.push(data.key_below(parent.unwrap_or(0), own));
            match row.parent.and_then(|parent| children.get_mut(parent)) {
                Some(siblings) => siblings.push(at),
                None => roots.push(at),
            }
        }
        let cost = |&at: &u32| Reverse(rows.get(at as usize).map_or(0, |row| row.inclusive.weight));
        for siblings in children.iter_mut().chain([&mut roots]) {
            siblings.sort_by_key(cost);
        }
        let mut levels: Vec<u32> = Vec::with_capacity(rows.len());
        for row in &rows {
            let above = row.parent.and_then(|parent| levels.get(parent)).copied().unwrap_or(0);
            let siblings = row.parent.and_then(|parent| children.get(parent)).map_or(0, Vec::len);
            levels.push(above + u32::from(siblings > 1));
        }
        Self { rows, omitted, keys, levels, roots, children, passes: None, shown: Vec::new() }
    }

    /// Returns a node.
    pub(crate) fn row(&self, node: u32) -> Option<&TreeRow> {
        self.rows.get(node as usize)
    }

    /// Returns the function of a node.
    pub(crate) fn function(&self, node: u32) -> Option<FunctionId> {
        self.row(node).and_then(function_of)
    }

    /// Returns the key of a node.
    pub(crate) fn key(&self, node: u32) -> u64 {
        self.keys.get(node as usize).copied().unwrap_or(0)
    }

    /// Returns the number of ancestors of a node with several children.
    pub(crate) fn level(&self, node: u32) -> usize {
        self.levels.get(node as usize).map_or(0, |&level| level as usize)
    }

    /// Returns true if a node is the only child of its parent.
    pub(crate) fn is_only_child(&self, node: u32) -> bool {
        let parent = self.row(node).and_then(|row| row.parent);
        parent.is_some_and(|parent| self.children(parent as u32).len() == 1)
    }

    /// Returns the children of a node, most costly first.
    pub(crate) fn children(&self, node: u32) -> &[u32] {
        self.children.get(node as usize).map_or(&[], Vec::as_slice)
    }

    /// Opens the most costly path from `from` on, as long as a child has at least half of the cost of its parent;
    /// from the roots if `from` is `None`. Returns the last node.
    pub(crate) fn open_hot_path(&self, from: Option<u32>, open: &mut OpenNodes) -> Option<u32> {
        let mut at = from.or_else(|| self.roots.first().copied())?;
        while let Some(&hottest) = self.children(at).first() {
            let weight = |node| self.row(node).map_or(0, |row| row.inclusive.weight);
            open.insert(self.key(at));
            if weight(hottest).saturating_mul(2) < weight(at) {
                break;
            }
            at = hottest;
        }
        Some(at)
    }

    /// Opens or closes a node and all below it; all nodes if `node` is `None`.
    pub(crate) fn set_below(&self, node: Option<u32>, is_open: bool, open: &mut OpenNodes) {
        let mut pending = node.map_or_else(|| self.roots.clone(), |node| vec![node]);
        while let Some(at) = pending.pop() {
            let children = self.children(at);
            if is_open && !children.is_empty() {
                open.insert(self.key(at));
            } else {
                open.remove(&self.key(at));
            }
            pending.extend_from_slice(children);
        }
    }

    /// Lists the shown nodes: those with open ancestors, if they pass.
    pub(crate) fn list(&mut self, open: &OpenNodes) {
        let passes = self.passes.as_ref();
        let is_shown =
            |node: &u32| passes.is_none_or(|passes| passes.get(*node as usize) == Some(&true));
        let mut pending: Vec<u32> = self.roots.iter().rev().copied().filter(is_shown).collect();
        let mut shown = Vec::new();
        while let Some(at) = pending.pop() {
            shown.push(at);
            if open.contains(&self.key(at)) {
                pending.extend(self.children(at).iter().rev().copied().filter(is_shown));
            }
        }
        self.shown = shown;
    }

    /// Opens the ancestors of matching nodes.
    pub(crate) fn open_to(&self, matches: &dyn Fn(FunctionId) -> bool, open: &mut OpenNodes) {
        let mut has_match = vec![false; self.rows.len()];
        for (at, row) in self.rows.iter().enumerate().rev() {
            let is_open = has_match.get(at) == Some(&true);
            if is_open {
                open.insert(self.key(at as u32));
            }
            if (is_open || function_of(row).is_some_and(matches))
                && let Some(parent) = row.parent.and_then(|parent| has_match.get_mut(parent))
            {
                *parent = true;
            }
        }
    }

    /// Returns, by node, whether a node on its path or below it matches. Parents precede their children.
    pub(crate) fn passing(&self, matches: &dyn Fn(FunctionId) -> bool) -> Vec<bool> {
        let mut passes: Vec<bool> = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let above = row.parent.and_then(|parent| passes.get(parent)) == Some(&true);
            passes.push(above || function_of(row).is_some_and(matches));
        }
        for (at, row) in self.rows.iter().enumerate().rev() {
            if passes.get(at) == Some(&true)
                && let Some(parent) = row.parent.and_then(|parent| passes.get_mut(parent))
            {
                *parent = true;
            }
        }
        passes
    }
}
