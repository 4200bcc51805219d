//! Call trees: the paths of stacks as functions, starting with the outermost or the innermost.

use super::paths::{MergedNodes, NONE, Paths};
use super::view::PathView;
use crate::id::RowId as _;
use crate::query::functions::FunctionId;

/// Label of a node in a call tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CallLabel {
    /// Stacks that lack their root.
    Truncated,
    /// A function.
    Function(FunctionId),
}

/// Code of the node for truncated stacks.
const TRUNCATED: u32 = NONE - 1;

/// A call tree. The codes of its nodes are functions.
#[derive(Debug)]
pub(super) struct CallPaths {
    pub(super) paths: Paths,
    /// Number of stacks. Those below [`CallLabel::Truncated`] follow, if there is such a node.
    stacks: u32,
    has_truncated: bool,
}

impl CallPaths {
    /// Builds the tree of a view. `wanted` lists, by stack, whether it is in the tree; a second list is for the stacks
    /// below [`CallLabel::Truncated`].
    pub(super) fn new(view: &PathView<'_>, wanted: &[Vec<bool>], inverted: bool) -> Self {
        let mut tree = MergedNodes::default();
        for (place, wanted) in wanted.iter().enumerate() {
            if inverted {
                bottom_up(view, wanted, &mut tree);
                continue;
            }
            let has_root = place > 0 && wanted.contains(&true);
            let root = if has_root { tree.below(NONE, TRUNCATED) } else { NONE };
            top_down(view, wanted, root, &mut tree);
        }
        let (stacks, has_truncated) = (view.paths().stacks(), wanted.len() > 1);
        Self { paths: tree.done(), stacks, has_truncated }
    }

    /// Returns the number of a stack in the paths.
    pub(super) const fn stack(&self, stack: u32, is_truncated: bool) -> u32 {
        if is_truncated && self.has_truncated { self.stacks + stack } else { stack }
    }

    /// Returns the label of a node.
    pub(super) fn label(&self, node: u32) -> CallLabel {
        match self.paths.code(node) {
            TRUNCATED => CallLabel::Truncated,
            code => CallLabel::Function(FunctionId::from_index(code as usize)),
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.paths.heap_bytes()
    }
}

/// Adds stacks below a root, outermost functions first.
fn top_down(view: &PathView<'_>, wanted: &[bool], root: u32, tree: &mut MergedNodes) {
    let paths = view.paths();
    let is_wanted = selected_runs(paths, wanted);
    // By run: the node of the tree at which it ends.
    let mut ends: Vec<u32> = Vec::with_capacity(is_wanted.len());
    for (run, is_wanted) in paths.runs().zip(is_wanted) {
        let mut at = ends.get(paths.parent(run) as usize).copied().unwrap_or(root);
        if is_wanted {
            for function in view.functions(run) {
                at = tree.below(at, function.as_u32());
            }
        }
        ends.push(at);
    }
    for stack in 0..paths.stacks() {
        tree.end_at(ends.get(paths.end(stack) as usize).copied().unwrap_or(root));
    }
}

/// Adds stacks, innermost functions first.
fn bottom_up(view: &PathView<'_>, wanted: &[bool], tree: &mut MergedNodes) {
    let paths = view.paths();
    for (stack, is_wanted) in (0..).zip(wanted) {
        let mut at = NONE;
        let mut run = if *is_wanted { paths.end(stack) } else { NONE };
        while run != NONE {
            for function in view.functions(run).rev() {
                at = tree.below(at, function.as_u32());
            }
            run = paths.parent(run);
        }
        tree.end_at(at);
    }
}

/// Returns, by run, whether a wanted stack ends at or below it.
fn selected_runs(paths: &Paths, wanted: &[bool]) -> Vec<bool> {
    let mut runs = vec![false; paths.runs().len()];
    for (stack, _) in (0..).zip(wanted).filter(|(_, is_wanted)| **is_wanted) {
        if let Some(run) = runs.get_mut(paths.end(stack) as usize) {
            *run = true;
        }
    }
    for run in paths.runs().rev() {
        let is_wanted = runs.get(run as usize) == Some(&true);
        if let Some(parent) = runs.get_mut(paths.parent(run) as usize) {
            *parent |= is_wanted;
        }
    }
    runs
}
