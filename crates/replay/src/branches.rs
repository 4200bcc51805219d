//! Recent branches of the samples of a slice.

use address::{Avma, ModuleId};
use module_map::Space;
use perf_data::{BranchFlags, Sample};
use profile::{BranchOutcome, EdgeRow};

/// The branches of a slice's samples, if they are requested.
#[derive(Debug, Default)]
pub(crate) struct SliceBranches {
    is_requested: bool,
    /// Samples of the slice with branch records, ascending, each with the end of its branches.
    samples: Vec<(u32, usize)>,
    branches: Vec<SliceBranch>,
}

/// A branch before its edge has an id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SliceBranch {
    pub(crate) edge: EdgeRow,
    pub(crate) cycles: u16,
    pub(crate) outcome: BranchOutcome,
}

impl SliceBranches {
    /// Returns an empty table, which stays empty if branches are not requested.
    pub(crate) fn new(is_requested: bool) -> Self {
        Self { is_requested, ..Self::default() }
    }

    /// Adds the branches of a sample with that index, in the order of the record: newest first.
    pub(crate) fn push(&mut self, index: u32, sample: &Sample<'_>, space: &Space, kernel: &Space) {
        let Some(stack) = sample.branch_stack.filter(|_| self.is_requested) else { return };
        let module = |at: Avma| -> Option<ModuleId> {
            let space = if at.0 >> 63 == 1 { kernel } else { space };
            space.lookup(at).map(|mapping| mapping.module)
        };
        self.branches.extend(stack.iter().map(|branch| {
            let (from, to) = (branch.from, branch.to);
            let edge = EdgeRow { from, to, from_module: module(from), to_module: module(to) };
            SliceBranch { edge, cycles: branch.flags.cycles(), outcome: outcome(branch.flags) }
        }));
        self.samples.push((index, self.branches.len()));
    }

    /// Returns the samples with branch records, with their branches.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &[SliceBranch])> {
        let starts = std::iter::once(0).chain(self.samples.iter().map(|(_, end)| *end));
        self.samples.iter().zip(starts).map(|(&(sample, end), start)| {
            (sample, self.branches.get(start..end).unwrap_or_default())
        })
    }

    /// Size of the tables, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.samples.capacity() * size_of::<(u32, usize)>()
            + self.branches.capacity() * size_of::<SliceBranch>()
    }
}

/// The kind `PERF_BR_EXTEND_ABI`: another field has the kind.
const EXTENDED: u8 = 15;

fn outcome(flags: BranchFlags) -> BranchOutcome {
    let predicted = match (flags.mispredicted(), flags.predicted()) {
        (0, 0) => None,
        // perf takes the second bit if both are set.
        (_, predicted) => Some(predicted == 1),
    };
    let kind = match flags.kind() as u8 {
        EXTENDED => EXTENDED + flags.new_kind() as u8,
        kind => kind,
    };
    BranchOutcome {
        predicted,
        in_transaction: flags.in_transaction() == 1,
        aborts: flags.abort() == 1,
        kind,
    }
}
