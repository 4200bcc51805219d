//! Paths of stacks as seen through a filter, which hides functions.

use options::GroupBy;
use std::borrow::Cow;

use super::index::{GroupKeys, Index};
use super::paths::{MergedNodes, NONE, Paths};
use super::rules::{FunctionRules, PathBits};
use crate::query::functions::FunctionId;

/// The paths that a query traverses.
#[derive(Debug)]
pub(super) struct PathView<'i> {
    index: &'i Index,
    /// Paths built for this view; `None` to use those of the index.
    built: Option<Paths>,
    visible: VisibleNodes,
}

/// The nodes that a filter shows.
#[derive(Debug)]
enum VisibleNodes {
    All,
    /// By line of the index.
    Lines(Vec<bool>),
    /// By node, if the ancestors of a node matter as well.
    Nodes(Vec<bool>),
}

impl<'i> PathView<'i> {
    pub(super) fn new(index: &'i Index, rules: &FunctionRules, collapses_recursion: bool) -> Self {
        let view = Self { index, built: None, visible: visible_nodes(index, rules) };
        if collapses_recursion {
            let built = Some(view.without_recursion());
            return Self { index, built, visible: VisibleNodes::All };
        }
        view
    }

    /// Returns the view of all paths of an index.
    pub(super) const fn whole(index: &'i Index) -> Self {
        Self { index, built: None, visible: VisibleNodes::All }
    }

    /// Returns the paths; their codes are lines of the index.
    pub(super) fn paths(&self) -> &Paths {
        self.built.as_ref().unwrap_or(&self.index.paths)
    }

    /// Returns true if a node of the paths with this line is shown.
    pub(super) fn shows(&self, node: usize, line: u32) -> bool {
        match &self.visible {
            VisibleNodes::All => true,
            VisibleNodes::Lines(lines) => lines.get(line as usize) == Some(&true),
            VisibleNodes::Nodes(nodes) => nodes.get(node) == Some(&true),
        }
    }

    /// Returns true if the view has all nodes of the index.
    pub(super) const fn is_whole(&self) -> bool {
        self.built.is_none() && matches!(self.visible, VisibleNodes::All)
    }

    /// Iterates over the functions of the shown nodes of a run, outermost first.
    pub(super) fn functions(&self, run: u32) -> impl DoubleEndedIterator<Item = FunctionId> {
        let nodes = self.paths().coded_nodes(run);
        let nodes = nodes.filter(|&(node, &line)| self.shows(node, line));
        nodes.filter_map(|(_, &line)| self.index.function(line))
    }

    /// Returns the keys for grouping lines, and the outermost shown node of each key.
    pub(super) fn keys(&self, group: GroupBy) -> GroupKeys<'i> {
        let keys = self.index.keys(group);
        // If the outermost node of a function on a path is hidden, so are its inner nodes. The outermost shown node is
        // therefore the outermost node. A module, in contrast, can have both hidden and shown functions.
        let is_cached = self.built.is_none() && (self.is_whole() || group != GroupBy::Module);
        let outermost = if is_cached {
            Cow::Borrowed(keys.outermost(&self.index.paths))
        } else {
            let key = |node, line| keys.key(line).filter(|_| self.shows(node, line));
            Cow::Owned(self.paths().outermost(keys.count, key))
        };
        GroupKeys { of_line: &keys.of_line, count: keys.count, outermost }
    }

    /// Builds paths without recursion: each function occurs once. Callees at any depth of its recursion become callees
    /// of its outermost node.
    fn without_recursion(&self) -> Paths {
        let index = self.index;
        let outermost = index.keys(GroupBy::Function).outermost(&index.paths);
        let mut tree = MergedNodes::default();
        let mut ends: Vec<u32> = Vec::new();
        for run in index.paths.runs() {
            let mut at = ends.get(index.paths.parent(run) as usize).copied().unwrap_or(NONE);
            let nodes = index.paths.coded_nodes(run);
            for (node, &line) in nodes.filter(|&(node, &line)| self.shows(node, line)) {
                let again = outermost.get(node) == Some(&false);
                let function = index.function(line);
                let outer =
                    again.then(|| tree.nearest(at, |code| index.function(code) == function));
                at = outer.flatten().unwrap_or_else(|| tree.below(at, line));
            }
            ends.push(at);
        }
        for stack in 0..index.paths.stacks() {
            let end = ends.get(index.paths.end(stack) as usize);
            tree.end_at(end.copied().unwrap_or(NONE));
        }
        tree.done()
    }
}

/// Returns the nodes of an index's paths that function rules show.
fn visible_nodes(index: &Index, rules: &FunctionRules) -> VisibleNodes {
    if rules.shows_all() {
        return VisibleNodes::All;
    }
    let of_line: Vec<u32> = index.lines.iter().map(|line| rules.bits(line.function)).collect();
    if !rules.has_charged() {
        let shown = of_line.iter().map(|&bits| PathBits::default().enter(bits));
        return VisibleNodes::Lines(shown.collect());
    }
    let paths = &index.paths;
    let mut nodes = Vec::with_capacity(paths.len());
    // By run: bits of the functions on the path to its end.
    let mut ends: Vec<PathBits> = Vec::new();
    for run in paths.runs() {
        let mut path = ends.get(paths.parent(run) as usize).copied().unwrap_or_default();
        for &line in paths.codes(run) {
            nodes.push(path.enter(of_line.get(line as usize).copied().unwrap_or(0)));
        }
        ends.push(path);
    }
    VisibleNodes::Nodes(nodes)
}
