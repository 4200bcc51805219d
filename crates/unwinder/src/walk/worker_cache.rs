//! Caches of a worker, for its later walks.

use std::collections::BTreeMap;
use std::path::PathBuf;

use budget::Exhausted;

use crate::cache::{LocalRules, MappingCache, StackCache};
use crate::cfi::CfiScratch;
use crate::fallback::Fallback;
use crate::walk::proof::RootCache;

/// Number of threads that have a cached previous stack: usually more than have samples in between.
pub(super) const STACKS: usize = 8;

/// Caches and scratch memory of a worker. They speed up later walks and change no result.
#[derive(Debug, Default)]
pub struct WorkerCache {
    pub(super) scratch: CfiScratch,
    pub(super) fallback: Fallback,
    pub(super) mappings: MappingCache,
    pub(super) rules: LocalRules,
    pub(super) roots: RootCache,
    /// The threads' previous stacks, a direct-mapped cache indexed by thread id.
    pub(super) stacks: [StackCache; STACKS],
}

impl WorkerCache {
    /// Returns the files that exhausted their instruction budget.
    #[must_use]
    pub fn into_exhausted(self) -> BTreeMap<PathBuf, Exhausted> {
        self.fallback.into_exhausted()
    }
}
