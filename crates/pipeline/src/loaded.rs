//! Cache of profiles for later queries, bounded by their bytes; the least recently used ones are evicted.

use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hashbrown::HashMap;
use profile::query::engine::Index;

use crate::runs::Analysis;

/// Maximum number of cached profiles, independent of their size: each holds the descriptor of its recording.
const MOST: usize = 100;

/// Slot of one profile: the first caller loads it while others wait.
type ProfileSlot = Arc<Mutex<Option<Arc<LoadedProfile>>>>;

/// Profile, with its index for queries.
#[derive(Debug)]
pub struct LoadedProfile {
    analysis: Analysis,
    index: OnceLock<Index>,
}

impl LoadedProfile {
    /// Returns the index, which the first query builds; `inlines` must equal the option of the run.
    pub fn query_index(&self, inlines: bool) -> &Index {
        self.index.get_or_init(|| Index::new(&self.analysis.profile, inlines))
    }

    fn heap_bytes(&self) -> usize {
        self.analysis.profile.heap_bytes() + self.index.get().map_or(0, Index::heap_bytes)
    }
}

impl Deref for LoadedProfile {
    type Target = Analysis;

    fn deref(&self) -> &Analysis {
        &self.analysis
    }
}

/// Profiles by the key of recording and options.
#[derive(Debug)]
pub struct LoadedProfiles {
    most: u64,
    cache: Mutex<ProfileCache>,
}

#[derive(Debug, Default)]
struct ProfileCache {
    entries: HashMap<String, CacheEntry>,
    /// Counter of uses.
    clock: u64,
}

#[derive(Debug)]
struct CacheEntry {
    slot: ProfileSlot,
    bytes: u64,
    used: u64,
}

impl LoadedProfiles {
    /// Creates a cache of at most `most` bytes.
    #[must_use]
    pub fn new(most: u64) -> Self {
        Self { most, cache: Mutex::default() }
    }

    /// Returns the profile for a key; calls `make` if it is not cached.
    ///
    /// # Errors
    /// Those of `make`; the next caller tries again.
    pub fn get<E>(
        &self,
        key: &str,
        make: impl FnOnce() -> Result<Analysis, E>,
    ) -> Result<Arc<LoadedProfile>, E> {
        let slot = self.slot(key);
        // After a panic of another thread the slot is either complete or empty.
        let mut analysis = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(analysis) = &*analysis {
            return Ok(Arc::clone(analysis));
        }
        let made = make().inspect_err(|_| {
            // An unreadable recording leaves no entry.
            self.lock().entries.remove(key);
        })?;
        let made = Arc::new(LoadedProfile { analysis: made, index: OnceLock::new() });
        *analysis = Some(Arc::clone(&made));
        drop(analysis);
        self.weigh(key, &made);
        Ok(made)
    }

    /// Removes a profile, because its inputs may have changed.
    pub fn forget(&self, key: &str) {
        self.lock().entries.remove(key);
    }

    fn slot(&self, key: &str) -> ProfileSlot {
        let mut cache = self.lock();
        cache.clock += 1;
        let clock = cache.clock;
        let entry = cache.entries.entry_ref(key);
        let entry = entry.or_insert_with(|| CacheEntry {
            slot: ProfileSlot::default(),
            bytes: 0,
            used: clock,
        });
        entry.used = clock;
        Arc::clone(&entry.slot)
    }

    /// Updates the size of a profile, including its index, and evicts others until the total is within the limit.
    pub fn weigh(&self, key: &str, profile: &LoadedProfile) {
        let mut cache = self.lock();
        if let Some(entry) = cache.entries.get_mut(key) {
            entry.bytes = profile.heap_bytes() as u64;
        }
        loop {
            let sum: u64 = cache.entries.values().map(|entry| entry.bytes).sum();
            let made = || cache.entries.iter().filter(|(_, entry)| entry.bytes > 0);
            let is_full = sum > self.most || made().count() > MOST;
            let oldest = made().min_by_key(|(_, entry)| entry.used).map(|(key, _)| key.clone());
            match oldest {
                Some(oldest) if is_full => cache.entries.remove(&oldest),
                _ => break,
            };
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ProfileCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_leaves_nothing_behind() {
        let held = LoadedProfiles::new(1 << 20);
        for key in ["a", "b", "a"] {
            assert_eq!(held.get(key, || Err("no recording")).unwrap_err(), "no recording");
        }
        assert!(held.lock().entries.is_empty());
    }
}
