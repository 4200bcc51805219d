//! Removal of unused nodes. A recording that is watched for hours accumulates stacks that never recur; without removal,
//! each tick would process them.

use address::ById as _;

use super::{FEW_NODES, LivePage, TimeEncoding};

impl LivePage {
    /// Returns true if samples need less than half of the nodes after `forgotten` samples are removed. The nodes are
    /// counted only if their number reached twice the number in use at the previous count.
    pub(super) fn is_sparse(&mut self, forgotten: u64) -> bool {
        let nodes = self.rows.nodes.len();
        if nodes < self.next_look.max(FEW_NODES) {
            return false;
        }
        let needed = self.needed_nodes(forgotten);
        self.next_look = 2 * needed;
        2 * needed < nodes
    }

    /// Returns the number of nodes on the stacks of samples that are not forgotten.
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

    /// Drops all nodes and samples, so that the next step creates only the needed ones. Functions retain their numbers,
    /// so a reader's selection remains valid.
    pub(super) fn drop_nodes(&mut self) {
        self.rows = Default::default();
        self.nodes.clear();
        self.of_stack = Default::default();
        self.leaves.clear();
        self.of_leaf = Default::default();
        self.addresses.clear();
        self.samples = self.forgotten;
        self.clock = TimeEncoding { last: 0, ..self.clock };
    }
}
