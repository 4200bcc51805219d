//! The stacks of a profile as a tree of the places that a filter shows.

use address::ById as _;

use super::places::Places;
use crate::id::StackId;
use crate::profile::Profile;
use crate::query::engine::paths::{MergedNodes, NONE, Nodes, Paths};
use crate::query::engine::rules::{FunctionRules, PathBits};

/// The tree, and the end of each stack in it.
#[derive(Debug)]
pub(super) struct ShownStacks {
    /// Its codes are places.
    tree: MergedNodes,
    /// By stack: the node at which it ends, and the bits of all its functions.
    ends: Vec<(u32, PathBits)>,
}

impl ShownStacks {
    /// Builds the tree. The functions of a node that has several are entered from the outermost on.
    pub(super) fn new(
        profile: &Profile,
        places: &Places,
        rules: &FunctionRules,
        collapses_recursion: bool,
    ) -> Self {
        let recursive = collapses_recursion.then(|| recursive(profile, places));
        let mut numbers = 0..;
        let mut tree = MergedNodes::default();
        let mut ends: Vec<(u32, PathBits)> = Vec::with_capacity(profile.stacks.len());
        for (id, row) in profile.stacks.entries() {
            // A parent precedes its children.
            let parent = row.parent.filter(|&parent| parent < id);
            let (mut at, mut path) = end(&ends, parent);
            for place in places.of_frame(row.frame).rev() {
                let number = numbers.next().unwrap_or(0);
                let Some(function) = places.function(place) else { continue };
                if !path.enter(rules.bits(function)) {
                    continue;
                }
                let again = recursive.as_ref().is_some_and(|all| all.get(number) == Some(&true));
                let outer = again
                    .then(|| tree.nearest(at, |place| places.function(place) == Some(function)));
                at = outer.flatten().unwrap_or_else(|| tree.below(at, place));
            }
            ends.push((at, path));
        }
        Self { tree, ends }
    }

    /// Returns the node at which a stack ends, [`NONE`] if no function is shown, and the bits of all its functions.
    pub(super) fn end(&self, stack: Option<StackId>) -> (u32, PathBits) {
        end(&self.ends, stack)
    }

    /// The tree.
    pub(super) const fn tree(&self) -> &MergedNodes {
        &self.tree
    }
}

fn end(ends: &[(u32, PathBits)], stack: Option<StackId>) -> (u32, PathBits) {
    stack.and_then(|stack| ends.by_id(stack)).copied().unwrap_or((NONE, PathBits::default()))
}

/// Returns, by function of each stack row in order, whether a function outside it is the same.
fn recursive(profile: &Profile, places: &Places) -> Vec<bool> {
    let mut nodes = Nodes::default();
    let mut ends: Vec<u32> = Vec::with_capacity(profile.stacks.len());
    let mut count = 0;
    for (id, row) in profile.stacks.entries() {
        let parent = row.parent.filter(|&parent| parent < id);
        let mut at = parent.and_then(|parent| ends.by_id(parent)).copied().unwrap_or(NONE);
        for place in places.of_frame(row.frame).rev() {
            at = nodes.push(at, place);
            count =
                places.function(place).map_or(count, |function| count.max(function.index() + 1));
        }
        ends.push(at);
    }
    let function = |place| places.function(place).map(|function| function.as_u32());
    let outermost = Paths::of(nodes).outermost(count, |_, place| function(place));
    outermost.into_iter().map(|is_outermost| !is_outermost).collect()
}
