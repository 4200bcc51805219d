//! What a worker of walks has found, for the walks that follow.

use std::collections::BTreeMap;
use std::path::PathBuf;

use budget::Exhausted;

use crate::cache::{KnownRules, MappingCache, StackCache};
use crate::cfi::CfiScratch;
use crate::fallback::Fallback;
use crate::walk::proof::RootCache;

/// How many threads' previous stacks are remembered: more than have samples in between as a rule.
pub(super) const STACKS: usize = 8;

/// What a worker has found, which makes the walks that follow quicker and changes nothing else, and its scratch.
#[derive(Debug, Default)]
pub struct WorkerCache {
    pub(super) scratch: CfiScratch,
    pub(super) fallback: Fallback,
    pub(super) mappings: MappingCache,
    pub(super) rules: KnownRules,
    pub(super) roots: RootCache,
    /// What the threads walked last, by their ids, as far as they do not collide.
    pub(super) stacks: [StackCache; STACKS],
}

impl WorkerCache {
    /// The files of which no more instructions were looked at.
    #[must_use]
    pub fn into_exhausted(self) -> BTreeMap<PathBuf, Exhausted> {
        self.fallback.into_exhausted()
    }
}
