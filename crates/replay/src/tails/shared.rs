//! Results that all threads share.

use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hashbrown::HashMap;

/// Results by key. Each is computed by one thread; the others wait for it.
#[derive(Debug)]
pub(super) struct SharedResults<K, V>(Mutex<HashMap<K, Arc<OnceLock<V>>>>);

impl<K, V> Default for SharedResults<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

const MAX_CACHED: usize = 1 << 17;

impl<K: Eq + Hash, V: Clone> SharedResults<K, V> {
    /// Returns the result of a key; `find` must not request others from here.
    pub(super) fn get(&self, key: K, find: impl FnOnce() -> V) -> V {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if cached.len() >= MAX_CACHED {
            cached.clear();
        }
        let result = Arc::clone(cached.entry(key).or_default());
        drop(cached);
        result.get_or_init(find).clone()
    }
}
