//! Cache of profiles for later queries, bounded by their bytes; the least recently used ones are evicted.

use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hashbrown::HashMap;
use pipeline::Analysis;

use super::questions::Index;

/// Maximum number of cached profiles, independent of their size: each holds the descriptor of its recording.
const MOST: usize = 100;

/// Slot of one profile: the first caller loads it while others wait.
type Place = Arc<Mutex<Option<Arc<HeldProfile>>>>;

/// Profile, with its index for queries.
#[derive(Debug)]
pub(super) struct HeldProfile {
    analysis: Analysis,
    index: OnceLock<Index>,
}

impl HeldProfile {
    /// Returns the index, which the first query builds; `inlines` must equal the option of the run.
    pub(super) fn index(&self, inlines: bool) -> &Index {
        self.index.get_or_init(|| Index::new(&self.analysis.profile, inlines))
    }

    fn heap_bytes(&self) -> usize {
        self.analysis.profile.heap_bytes() + self.index.get().map_or(0, Index::heap_bytes)
    }
}

impl Deref for HeldProfile {
    type Target = Analysis;

    fn deref(&self) -> &Analysis {
        &self.analysis
    }
}

/// Profiles by the key of recording and options.
#[derive(Debug)]
pub(super) struct Held {
    most: u64,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    places: HashMap<String, Row>,
    /// Counter of uses.
    clock: u64,
}

#[derive(Debug)]
struct Row {
    place: Place,
    bytes: u64,
    used: u64,
}

impl Held {
    pub(super) fn new(most: u64) -> Self {
        Self { most, kept: Mutex::default() }
    }

    /// Returns the profile for a key; calls `make` if it is not cached.
    ///
    /// # Errors
    /// Those of `make`; the next caller tries again.
    pub(super) fn get<E>(
        &self,
        key: &str,
        make: impl FnOnce() -> Result<Analysis, E>,
    ) -> Result<Arc<HeldProfile>, E> {
        let place = self.place(key);
        // After a panic of another thread the slot is either complete or empty.
        let mut analysis = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(analysis) = &*analysis {
            return Ok(Arc::clone(analysis));
        }
        let made = make().inspect_err(|_| {
            // An unreadable recording leaves no entry.
            self.lock().places.remove(key);
        })?;
        let made = Arc::new(HeldProfile { analysis: made, index: OnceLock::new() });
        *analysis = Some(Arc::clone(&made));
        drop(analysis);
        self.weigh(key, &made);
        Ok(made)
    }

    /// Removes a profile, because its inputs may have changed.
    pub(super) fn forget(&self, key: &str) {
        self.lock().places.remove(key);
    }

    fn place(&self, key: &str) -> Place {
        let mut kept = self.lock();
        kept.clock += 1;
        let clock = kept.clock;
        let row = kept.places.entry_ref(key);
        let row = row.or_insert_with(|| Row { place: Place::default(), bytes: 0, used: clock });
        row.used = clock;
        Arc::clone(&row.place)
    }

    /// Updates the size of a profile, including its index, and evicts others until the total is within the limit.
    pub(super) fn weigh(&self, key: &str, profile: &HeldProfile) {
        let mut kept = self.lock();
        if let Some(row) = kept.places.get_mut(key) {
            row.bytes = profile.heap_bytes() as u64;
        }
        loop {
            let sum: u64 = kept.places.values().map(|row| row.bytes).sum();
            let made = || kept.places.iter().filter(|(_, row)| row.bytes > 0);
            let is_full = sum > self.most || made().count() > MOST;
            let oldest = made().min_by_key(|(_, row)| row.used).map(|(key, _)| key.clone());
            match oldest {
                Some(oldest) if is_full => kept.places.remove(&oldest),
                _ => break,
            };
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_leaves_nothing_behind() {
        let held = Held::new(1 << 20);
        for key in ["a", "b", "a"] {
            assert_eq!(held.get(key, || Err("no recording")).unwrap_err(), "no recording");
        }
        assert!(held.lock().places.is_empty());
    }
}
