//! Nodes that no sample needs any more. A recording that is watched for hours sees stacks that never come again; without
//! this they would be counted at each tick.

use address::ById as _;

use super::{Clock, FEW_NODES, LivePage};

impl LivePage {
    /// Whether samples need less than half of the nodes, when so many are forgotten. It is looked at when there are twice
    /// as many nodes as after the last look.
    pub(super) fn is_sparse(&mut self, forgotten: u64) -> bool {
        let nodes = self.rows.nodes.len();
        if nodes < self.next_look.max(FEW_NODES) {
            return false;
        }
        let needed = self.needed_nodes(forgotten);
        self.next_look = 2 * needed;
        2 * needed < nodes
    }

    /// Nodes that samples are at or in, of those that are not forgotten.
    fn needed_nodes(&self, forgotten: u64) -> usize {
        let rows = &self.rows;
        let gone = usize::try_from(forgotten - self.forgotten).unwrap_or(usize::MAX);
        let mut needed = vec![false; rows.nodes.len()];
        let mut count = 0;
        for leaf in rows.samples.leaves(gone) {
            let mut at = rows.leaves.get(leaf as usize).and_then(|row| row.node);
            while let Some(node) = at
                && let Some(slot @ false) = needed.by_id_mut(node)
            {
                *slot = true;
                count += 1;
                at = rows.nodes.by_id(node).and_then(|row| row.parent);
            }
        }
        count
    }

    /// Drops all nodes and samples, so that the next step makes those that are needed. Functions keep their numbers, and
    /// so does what a reader chose.
    pub(super) fn drop_nodes(&mut self) {
        self.rows = Default::default();
        self.nodes.clear();
        self.of_stack = Default::default();
        self.leaves.clear();
        self.of_leaf = Default::default();
        self.places.clear();
        self.samples = self.forgotten;
        self.clock = Clock { last: 0, ..self.clock };
    }
}
