//! Recent branches of samples, from the branch records of the processor. Loops repeat the same few branches, so
//! samples refer to distinct edges.

use address::{Avma, ModuleId};

use super::Table;
use crate::id::{EdgeId, EventId, SampleId};

/// The branches of samples, if they were requested.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BranchTable {
    /// Distinct edges.
    pub edges: Table<EdgeId, EdgeRow>,
    /// Samples with branch records, ascending, each with the end of its branches.
    samples: Vec<(SampleId, usize)>,
    branches: Vec<BranchRow>,
    /// Events whose samples have neither a callchain nor a copy of the stack.
    single: Vec<EventId>,
}

/// A branch from one instruction to another, in one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EdgeRow {
    /// Address of the branch instruction.
    pub from: Avma,
    /// Address of the target.
    pub to: Avma,
    /// Module of [`Self::from`]; `None` if nothing was mapped.
    pub from_module: Option<ModuleId>,
    /// Module of [`Self::to`]; `None` if nothing was mapped.
    pub to_module: Option<ModuleId>,
}

/// A taken branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BranchRow {
    /// The edge.
    pub edge: EdgeId,
    /// Cycles since the previous branch; 0 if unknown.
    pub cycles: u16,
    /// What the processor noted about it.
    pub outcome: BranchOutcome,
}

/// Outcome and kind of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BranchOutcome {
    /// True if the prediction was right, false if it was wrong; `None` if unknown.
    pub predicted: Option<bool>,
    /// True within a transaction.
    pub in_transaction: bool,
    /// True if it aborted a transaction.
    pub aborts: bool,
    /// Kind of the branch, `PERF_BR_*` of `include/uapi/linux/perf_event.h`; 0 if unknown. From 15 on,
    /// `PERF_BR_NEW_*` plus 15.
    pub kind: u8,
}

impl BranchTable {
    /// Returns true if no sample has branch records.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Adds the branches of a sample, which comes after those before. Newest first.
    pub fn push(&mut self, sample: SampleId, branches: impl Iterator<Item = BranchRow>) {
        self.branches.extend(branches);
        self.samples.push((sample, self.branches.len()));
    }

    /// Returns the branches of a sample, newest first; none if it has no branch records.
    #[must_use]
    pub fn of_sample(&self, sample: SampleId) -> &[BranchRow] {
        let Ok(at) = self.samples.binary_search_by_key(&sample, |(sample, _)| *sample) else {
            return &[];
        };
        self.branches.get(self.range(at)).unwrap_or_default()
    }

    fn range(&self, at: usize) -> std::ops::Range<usize> {
        let end = |at: usize| self.samples.get(at).map_or(0, |(_, end)| *end);
        at.checked_sub(1).map_or(0, end)..end(at)
    }

    /// Notes that samples of an event have neither a callchain nor a copy of the stack.
    pub fn add_single(&mut self, event: EventId) {
        if !self.single.contains(&event) {
            self.single.push(event);
        }
    }

    /// Returns true if samples of an event have neither a callchain nor a copy of the stack, only an address.
    #[must_use]
    pub fn is_single(&self, event: EventId) -> bool {
        self.single.contains(&event)
    }

    pub(super) fn renumber(&mut self, mut new: impl FnMut(SampleId) -> Option<SampleId>) {
        let mut rest = Self::default();
        for (at, (sample, _)) in self.samples.iter().enumerate() {
            if let Some(sample) = new(*sample) {
                let branches = self.branches.get(self.range(at)).unwrap_or_default();
                rest.push(sample, branches.iter().copied());
            }
        }
        (self.samples, self.branches) = (rest.samples, rest.branches);
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.edges.heap_bytes()
            + self.samples.capacity() * size_of::<(SampleId, usize)>()
            + self.branches.capacity() * size_of::<BranchRow>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_go_with_their_samples() {
        let mut table = BranchTable::default();
        let outcome =
            BranchOutcome { predicted: Some(true), in_transaction: false, aborts: false, kind: 1 };
        let row = |edge| BranchRow { edge: EdgeId::new(edge), cycles: 7, outcome };
        let id = SampleId::new;
        assert!(table.is_empty());
        for (sample, edges) in [(2, 0..3), (5, 3..3), (6, 4..5), (9, 5..7)] {
            table.push(id(sample), edges.map(row));
        }
        let edges = |table: &BranchTable, sample| -> Vec<u32> {
            table.of_sample(id(sample)).iter().map(|row| row.edge.as_u32()).collect()
        };
        assert_eq!([2, 3, 5, 6, 9].map(|it| edges(&table, it).len()), [3, 0, 0, 1, 2]);
        table.renumber(|sample| (sample != id(6)).then(|| id(sample.as_u32() + 1)));
        assert_eq!((edges(&table, 3), edges(&table, 10)), (vec![0, 1, 2], vec![5, 6]));
        assert_eq!((edges(&table, 6), edges(&table, 7)), (vec![], vec![]));
        assert_eq!(size_of::<BranchRow>(), 12);
    }

    #[test]
    fn events_without_chains_are_noted_once() {
        let mut table = BranchTable::default();
        for event in [3, 3] {
            table.add_single(EventId::new(event));
        }
        assert_eq!([3, 4].map(|event| table.is_single(EventId::new(event))), [true, false]);
        assert_eq!(table.single.len(), 1);
    }
}
