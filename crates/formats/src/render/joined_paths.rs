//! Which frames of a graph of stacks most samples have from other samples: a graph that draws equal stacks as one cannot
//! tell each of them apart, but says so where it is the rule.

use hashbrown::HashMap;
use profile::{Profile, StackId, StringId, Table};

use crate::render::name_tree::NameTree;

/// What stands outside of a path: the label of the thread, and whether the stack is truncated.
pub(crate) type PathHead = (StringId, bool);

/// The frames of a graph, each by the path that leads to it, with what they weigh.
#[derive(Debug, Default)]
pub(crate) struct JoinedPaths {
    heads: HashMap<PathHead, u32>,
    /// By the frame before, and the label.
    children: HashMap<(u32, StringId), u32>,
    /// By frame: its weight, and what of it is of samples that have it from others.
    weights: Vec<(u64, u64)>,
}

impl JoinedPaths {
    /// Adds a stack of that weight; `joined` says of each place of the path whether it comes from other samples.
    pub(crate) fn add(
        &mut self,
        head: PathHead,
        path: &[StringId],
        weight: u64,
        joined: impl Fn(usize) -> bool,
    ) {
        let Self { heads, children, weights } = self;
        let mut push = || {
            weights.push((0, 0));
            weights.len() as u32 - 1
        };
        let mut at = *heads.entry(head).or_insert_with(&mut push);
        let mut nodes = Vec::with_capacity(path.len());
        for &label in path {
            at = *children.entry((at, label)).or_insert_with(&mut push);
            nodes.push(at);
        }
        for (place, node) in nodes.into_iter().enumerate() {
            if let Some((all, of_others)) = weights.get_mut(node as usize) {
                *all = all.saturating_add(weight);
                let part = if joined(place) { weight } else { 0 };
                *of_others = of_others.saturating_add(part);
            }
        }
    }

    /// Calls `visit` with each label of a path, and whether most of its weight comes from other samples.
    pub(crate) fn walk(
        &self,
        head: PathHead,
        path: &[StringId],
        mut visit: impl FnMut(StringId, bool),
    ) {
        let mut at = self.heads.get(&head).copied();
        for &label in path {
            at = at.and_then(|at| self.children.get(&(at, label)).copied());
            let weight = at.and_then(|at| self.weights.get(at as usize)).copied();
            visit(label, weight.is_some_and(|(all, joined)| joined > all / 2));
        }
    }
}

/// By stack: how many of the outermost names come from other samples.
pub(crate) fn joined_names(profile: &Profile, tree: &NameTree) -> Table<StackId, u32> {
    let mut joined = Table::<StackId, u32>::new();
    joined.reserve(profile.stacks.len());
    for (stack, row) in profile.stacks.entries() {
        let outside = row.parent.and_then(|parent| joined.get(parent)).copied().unwrap_or(0);
        let frame = profile.frames.get(row.frame);
        let own = frame.is_some_and(|frame| frame.found_by.is_joined());
        joined.push(if own { tree.depth(tree.node_of(Some(stack))) } else { outside });
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_of_the_weight_decides() {
        let [comm, main, f, g] = [0, 1, 2, 3].map(StringId::new);
        let (head, other) = ((comm, false), (comm, true));
        let mut paths = JoinedPaths::default();
        paths.add(head, &[main, f], 2, |_| false);
        paths.add(head, &[main, g], 3, |place| place == 0);
        paths.add(other, &[main, f], 1, |_| true);
        let marked = |head, path: &[StringId]| {
            let mut marks = Vec::new();
            paths.walk(head, path, |label, mark| marks.push((label, mark)));
            marks
        };
        assert_eq!(marked(head, &[main, f]), [(main, true), (f, false)]);
        assert_eq!(marked(head, &[main, g]), [(main, true), (g, false)]);
        assert_eq!(marked(other, &[main, f]), [(main, true), (f, true)]);
        assert_eq!(marked(head, &[g, f]), [(g, false), (f, false)], "not in the graph");
    }
}
