//! Frames of a stack graph that most samples have from other samples. A graph that merges equal stacks cannot mark
//! individual samples; it marks a frame if most of its weight is from other samples.

use hashbrown::HashMap;
use profile::{Profile, StackId, StringId, Table};

use crate::render::name_tree::NameTree;

/// Key of a set of paths: the label of the thread, and whether the stacks are truncated.
pub(crate) type PathHead = (StringId, bool);

/// Frames of a graph, identified by their path, with weights.
#[derive(Debug, Default)]
pub(crate) struct JoinedPaths {
    heads: HashMap<PathHead, u32>,
    /// By parent frame and label.
    children: HashMap<(u32, StringId), u32>,
    /// By frame: its weight, and the part of it from samples that have the frame from other samples.
    weights: Vec<(u64, u64)>,
}

impl JoinedPaths {
    /// Adds a stack with `weight`; `joined` returns whether the frame at a position of the path is from other samples.
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

    /// Calls `visit` with each label of a path, and true if most of its weight is from other samples.
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

/// Returns, by stack, the number of outermost names that are from other samples.
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
