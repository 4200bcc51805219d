//! How much memory a run may hold.
//!
//! What grows with a recording are the tables of distinct stacks, frames and names; nothing of them can be left out. So
//! the limit makes what is prefetched smaller, and where the tables pass it, the run ends with an error rather than by
//! the kernel's killing.

use budget::{Budget, Limit, Resource};
use perf_data::SessionOptions;

use crate::error::Error;
use crate::options::Limits;

impl Limits {
    /// Prefetches less where the usual batches would take more than a part of the limit.
    pub(crate) fn apply(self, options: SessionOptions) -> SessionOptions {
        let Some(bytes) = self.memory else { return options };
        SessionOptions {
            batch_bytes: options.batch_bytes.min(bytes / 8),
            pending_bytes: options.pending_bytes.min(bytes / 2),
            expansion_bytes: options.expansion_bytes.min((bytes / 4) as usize),
            ..options
        }
    }

    /// What files may cost: no more of them is in memory than the limit.
    pub(crate) fn budget(self, budget: Budget) -> Budget {
        let Some(bytes) = self.memory else { return budget };
        let limit = budget.limit(Resource::HeldInAll);
        let most = limit.most.min(bytes);
        budget.with(Resource::HeldInAll, Limit { most, ..limit })
    }

    /// Whether a run that holds so many bytes is within its limit.
    pub(crate) fn check(self, held: impl FnOnce() -> u64) -> Result<(), Error> {
        match self.memory {
            Some(limit) if held() > limit => Err(Error::MemoryLimit { limit }),
            _ => Ok(()),
        }
    }
}
