//! Profiles that are kept for the next questions, bounded by their bytes; the one that was asked longest ago goes first.

use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hashbrown::HashMap;
use pipeline::Analysis;

use super::questions::Index;

/// Profiles that are kept at most, however small: each keeps its recording's descriptor.
const MOST: usize = 100;

/// The place of one profile: whoever comes first makes it, others wait.
type Place = Arc<Mutex<Option<Arc<HeldProfile>>>>;

/// A profile, and what questions about it need.
#[derive(Debug)]
pub(super) struct HeldProfile {
    analysis: Analysis,
    index: OnceLock<Index>,
}

impl HeldProfile {
    /// What questions need, which the first one makes; `inlines` as the run had them.
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

/// Profiles by the keys of their recordings and options.
#[derive(Debug)]
pub(super) struct Held {
    most: u64,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    places: HashMap<String, Row>,
    /// Counts the uses.
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

    /// The profile of that key, made by `make` where it is not at hand.
    ///
    /// # Errors
    /// Those of `make`; the next who asks tries again.
    pub(super) fn get<E>(
        &self,
        key: &str,
        make: impl FnOnce() -> Result<Analysis, E>,
    ) -> Result<Arc<HeldProfile>, E> {
        let place = self.place(key);
        // A panic of another thread leaves a whole value, or none.
        let mut analysis = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(analysis) = &*analysis {
            return Ok(Arc::clone(analysis));
        }
        let made = make().inspect_err(|_| {
            // What cannot be read leaves nothing behind.
            self.lock().places.remove(key);
        })?;
        let made = Arc::new(HeldProfile { analysis: made, index: OnceLock::new() });
        *analysis = Some(Arc::clone(&made));
        drop(analysis);
        self.weigh(key, &made);
        Ok(made)
    }

    /// Forgets a profile: what it was made of may have changed.
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

    /// Counts a profile with what was made for questions, and drops others until all are within the bound.
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
