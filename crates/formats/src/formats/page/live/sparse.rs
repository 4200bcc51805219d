//! Nodes that no sample needs any more. A recording that is watched for hours sees stacks that never come again; without
//! this they would be counted at each tick.

use super::super::columns::NONE;
use super::{Clock, FEW_NODES, LivePage};

impl LivePage {
    /// Whether samples need less than half of the nodes, when so many are forgotten. It is looked at when there are twice
    /// as many nodes as after the last look.
    pub(super) fn is_sparse(&mut self, forgotten: u64) -> bool {
        let nodes = self.columns.parent.len();
        if nodes < self.next_look.max(FEW_NODES) {
            return false;
        }
        let needed = self.needed_nodes(forgotten);
        self.next_look = 2 * needed;
        2 * needed < nodes
    }

    /// Nodes that samples are at or in, of those that are not forgotten.
    fn needed_nodes(&self, forgotten: u64) -> usize {
        let columns = &self.columns;
        let gone = usize::try_from(forgotten - self.forgotten).unwrap_or(usize::MAX);
        let mut needed = vec![false; columns.parent.len()];
        let mut count = 0;
        for &leaf in columns.leaf.iter().skip(gone) {
            let mut at = columns.leaf_node.get(leaf as usize).copied().unwrap_or(NONE);
            while let Some(slot @ false) = needed.get_mut(at as usize) {
                *slot = true;
                count += 1;
                at = columns.parent.get(at as usize).copied().unwrap_or(NONE);
            }
        }
        count
    }

    /// Drops all nodes and samples, so that the next step makes those that are needed. Functions keep their numbers, and
    /// so does what a reader chose.
    pub(super) fn drop_nodes(&mut self) {
        self.columns = Default::default();
        self.nodes.clear();
        self.of_stack = Default::default();
        self.leaves.clear();
        self.of_leaf = Default::default();
        self.places.clear();
        self.samples = self.forgotten;
        self.clock = Clock { last: 0, ..self.clock };
    }
}
