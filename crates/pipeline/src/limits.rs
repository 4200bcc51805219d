//! The memory limit of a run.
//!
//! Memory grows with address spaces, modules, and the tables of distinct stacks, frames and names, all of which are
//! needed.
//! The limit therefore reduces prefetching and gives files half of it.
//! If the total exceeds the limit, the run ends with an error instead of being killed by the kernel.

use budget::{Budget, Limit, MemoryBudget, Resource};
use options::Limits;
use perf_data::SessionOptions;

use crate::error::Error;

/// Reduces prefetching if the default batches would take more than a share of the limit.
pub(crate) fn prefetch(limits: Limits, options: SessionOptions) -> SessionOptions {
    let Some(bytes) = limits.memory.bytes() else { return options };
    SessionOptions {
        batch_bytes: options.batch_bytes.min(bytes / 8),
        pending_bytes: options.pending_bytes.min(bytes / 2),
        expansion_bytes: options.expansion_bytes.min((bytes / 4) as usize),
        // Batches that wait there are not counted.
        scan: None,
        ..options
    }
}

/// Returns a budget that gives files at most half of the memory limit, since a run also needs tables.
pub(crate) fn file_budget(limits: Limits, budget: Budget) -> Budget {
    let Some(bytes) = limits.memory.bytes() else { return budget };
    let limit = budget.limit(Resource::HeldInAll);
    let most = limit.most.min(bytes / 2);
    budget.with(Resource::HeldInAll, Limit { most, ..limit })
}

/// Returns an error if the run exceeded its memory limit, because its result is incomplete.
pub(crate) fn check_memory(memory: &MemoryBudget) -> Result<(), Error> {
    match memory.exceeded() {
        Some(exceeded) => Err(Error::MemoryLimit { exceeded: Box::new(exceeded.clone()) }),
        None => Ok(()),
    }
}
