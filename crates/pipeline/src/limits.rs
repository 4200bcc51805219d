//! How much memory a run may hold.
//!
//! What grows with a recording are address spaces, modules, and the tables of distinct stacks, frames and names; nothing
//! of them can be left out. So the limit makes what is prefetched smaller, files get half of it, and where all of it
//! together passes the limit, the run ends with an error rather than by the kernel's killing.

use budget::{Budget, Limit, Memory, Resource};
use options::Limits;
use perf_data::SessionOptions;

use crate::error::Error;

/// Prefetches less where the usual batches would take more than a part of the limit.
pub(crate) fn prefetch(limits: Limits, options: SessionOptions) -> SessionOptions {
    let Some(bytes) = limits.memory.bytes() else { return options };
    SessionOptions {
        batch_bytes: options.batch_bytes.min(bytes / 8),
        pending_bytes: options.pending_bytes.min(bytes / 2),
        expansion_bytes: options.expansion_bytes.min((bytes / 4) as usize),
        // What waits there is not counted.
        ahead: None,
        ..options
    }
}

/// What files may cost: what is in memory of them is no more than half of the limit, since a run needs tables, too.
pub(crate) fn file_budget(limits: Limits, budget: Budget) -> Budget {
    let Some(bytes) = limits.memory.bytes() else { return budget };
    let limit = budget.limit(Resource::HeldInAll);
    let most = limit.most.min(bytes / 2);
    budget.with(Resource::HeldInAll, Limit { most, ..limit })
}

/// Ends a run that asked for more memory than it may hold: what it has is not complete.
pub(crate) fn check_memory(memory: &Memory) -> Result<(), Error> {
    match memory.exceeded() {
        Some(exceeded) => Err(Error::MemoryLimit { exceeded: Box::new(exceeded.clone()) }),
        None => Ok(()),
    }
}
