//! simpleperf's rule: a chain continues as another chain of the thread did from the same frame.
//!
//! A node is an address with its stack pointer, in one thread. Each node has one parent: the caller in the last chain
//! through it. A chain is continued with the parent of its outermost node, with that one's parent, and so on. This is
//! done with all chains from the last to the first, then with the results from the first to the last, so that earlier
//! and later chains count. The rule does not detect that a node was left and entered again.
//!
//! simpleperf requires `min_matching_nodes` matching nodes, 1 by default; here it is always 1. Its cache is limited to
//! 8 MiB (262,144 nodes) and then drops nodes without children. This one drops none, which is equivalent for recordings
//! of some thousand samples (up to 53,000 nodes were observed).
//!
//! Source: simpleperf `CallChainJoiner` (AOSP, system/extras), `cmd_record.cpp` for the defaults.

use std::collections::{BTreeMap, BTreeSet};

use unwinder::EndReason;

use super::walk::{Node, Walk};

/// More nodes than a chain can have.
const MOST: usize = 1 << 20;

/// Joins the walks of a recording, which are in time order.
///
/// simpleperf does not know which node is a root. A joined chain counts as `root` if it ends at the last node of a walk
/// that ended at a root.
pub(super) fn join(walks: &mut [Walk]) {
    let roots: BTreeSet<(i32, Node)> = walks
        .iter()
        .filter(|walk| walk.end == EndReason::Root)
        .filter_map(|walk| Some((walk.tid, *walk.nodes.last()?)))
        .collect();
    for walk in walks.iter_mut() {
        walk.nodes.truncate(n_ascending(&walk.nodes));
    }
    let own: Vec<usize> = walks.iter().map(|walk| walk.nodes.len()).collect();
    let mut cache = Cache::default();
    for walk in walks.iter_mut().rev() {
        cache.add(walk.tid, &mut walk.nodes);
    }
    for walk in walks.iter_mut() {
        cache.add(walk.tid, &mut walk.nodes);
    }
    for (walk, own) in walks.iter_mut().zip(own) {
        // A chain that reached the root itself is not improved.
        if walk.end != EndReason::Root && walk.nodes.len() > own {
            walk.joined = true;
            if walk.nodes.last().is_some_and(|last| roots.contains(&(walk.tid, *last))) {
                walk.end = EndReason::Root;
            }
        }
    }
}

/// Returns the number of nodes before the first one that repeats, or that has a lower stack pointer than its callee.
fn n_ascending(nodes: &[Node]) -> usize {
    let wrong = |index: &usize| {
        let (inner, outer) = nodes.split_at(*index);
        let Some(node) = outer.first() else { return false };
        inner.last().is_some_and(|callee| node.sp < callee.sp)
            || inner.iter().rev().take_while(|callee| callee.sp == node.sp).any(|it| it == node)
    };
    (1..nodes.len()).find(wrong).unwrap_or(nodes.len())
}

/// All nodes, each with its parent.
#[derive(Default)]
struct Cache {
    index: BTreeMap<(i32, Node), usize>,
    nodes: Vec<(Node, Option<usize>)>,
}

impl Cache {
    /// Adds a chain, and continues it.
    fn add(&mut self, tid: i32, chain: &mut Vec<Node>) {
        let ids: Vec<usize> = chain.iter().map(|&node| self.id(tid, node)).collect();
        for pair in ids.windows(2) {
            if let [child, parent] = *pair {
                self.nodes[child].1 = Some(parent);
            }
        }
        let Some((&last, &outermost)) = ids.last().zip(chain.last()) else { return };
        let own = chain.len();
        let mut at = last;
        while let Some(parent) = self.nodes[at].1.filter(|_| chain.len() < MOST) {
            let node = self.nodes[parent].0;
            let level = chain.iter().take(own).rev().take_while(|it| it.sp == outermost.sp);
            if node.sp == outermost.sp && level.into_iter().any(|it| it.ip == node.ip) {
                // It would form a cycle.
                self.nodes[last].1 = None;
                chain.truncate(own);
                return;
            }
            chain.push(node);
            at = parent;
        }
    }

    fn id(&mut self, tid: i32, node: Node) -> usize {
        let Self { index, nodes } = self;
        *index.entry((tid, node)).or_insert_with(|| {
            nodes.push((node, None));
            nodes.len() - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::walk::written;
    use super::*;

    const CUT: EndReason = EndReason::StackExhausted;
    const ROOT: EndReason = EndReason::Root;

    /// Returns the results for walks, each given by thread, frames and end reason.
    fn joined(walks: &[(i32, &str, EndReason)]) -> Vec<(String, EndReason, bool)> {
        let mut walks: Vec<Walk> =
            walks.iter().map(|&(tid, frames, end)| written(tid, frames, end)).collect();
        join(&mut walks);
        let text = |node: &Node| {
            [node.ip as u8, node.sp as u8 + b'0'].map(char::from).into_iter().collect::<String>()
        };
        walks
            .iter()
            .map(|walk| (walk.nodes.iter().map(text).collect(), walk.end, walk.joined))
            .collect()
    }

    #[test]
    fn a_chain_goes_on_at_its_outermost_node_from_samples_before_and_after() {
        let found = joined(&[(1, "a1b2", CUT), (1, "b2c3", CUT), (1, "c3m4", ROOT)]);
        assert_eq!(
            found,
            [
                ("a1b2c3m4".to_owned(), ROOT, true),
                ("b2c3m4".to_owned(), ROOT, true),
                ("c3m4".to_owned(), ROOT, false),
            ]
        );
        let found = joined(&[(1, "b2c3m4", ROOT), (1, "a1b2", CUT), (1, "x1c3", CUT)]);
        assert_eq!(
            found[1..],
            [("a1b2c3m4".to_owned(), ROOT, true), ("x1c3m4".to_owned(), ROOT, true),]
        );
    }

    #[test]
    fn nodes_match_by_address_and_stack_pointer_in_one_thread() {
        let (cut, whole) = ((1, "a1b2", CUT), "b2m4");
        let stays = ("a1b2".to_owned(), CUT, false);
        assert_eq!(joined(&[cut, (1, "c2m4", ROOT)])[0], stays);
        assert_eq!(joined(&[cut, (1, "b3m4", ROOT)])[0], stays);
        assert_eq!(joined(&[cut, (2, whole, ROOT)])[0], stays);
        assert_eq!(joined(&[cut, (1, whole, ROOT)])[0], ("a1b2m4".to_owned(), ROOT, true));
        // Only the outermost node is continued, not one inside of the chain.
        assert_eq!(joined(&[cut, (1, "a1m4", ROOT)])[0], ("a1b2".to_owned(), CUT, false));
    }

    #[test]
    fn recursion_goes_on_at_the_same_depth() {
        let found = joined(&[(1, "r1r2", CUT), (1, "r2r3r4m5", ROOT), (1, "r3r4", CUT)]);
        assert_eq!(found[0], ("r1r2r3r4m5".to_owned(), ROOT, true));
        assert_eq!(found[2], ("r3r4m5".to_owned(), ROOT, true));
    }

    #[test]
    fn of_several_callers_the_last_one_counts_though_the_frame_is_another() {
        // The second pass runs forwards. The third sample has overwritten the true parent from the first, and its b2 is
        // taken for the same call as that of the second.
        let found = joined(&[(1, "b2c3m5", ROOT), (1, "b2d3m5", ROOT), (1, "a1b2", CUT)]);
        assert_eq!(found[2], ("a1b2d3m5".to_owned(), ROOT, true));
    }

    #[test]
    fn what_does_not_reach_a_root_stays_cut() {
        let found = joined(&[(1, "a1b2", CUT), (1, "b2c3", CUT)]);
        assert_eq!(found[0], ("a1b2c3".to_owned(), CUT, true));
    }

    #[test]
    fn nothing_goes_round_or_down() {
        let found = joined(&[(1, "a1b1", CUT), (1, "b1a1", CUT)]);
        assert_eq!(found[1], ("b1a1".to_owned(), CUT, false));
        assert_eq!(joined(&[(1, "a2b3c1d4", CUT)])[0].0, "a2b3");
        assert_eq!(joined(&[(1, "a2b2a2d4", CUT)])[0].0, "a2b2");
    }
}
