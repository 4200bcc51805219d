//! In-memory cache of recordings' headers, since clients request the list repeatedly.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde_json::value::RawValue;

use crate::problem::Problem;

/// Maximum number of cached headers.
const MOST: usize = 4096;

/// Header of a recording, or the reason that it is unreadable.
type CachedHeader = Result<Box<RawValue>, Problem>;

/// Headers, with the keys of their recordings.
#[derive(Debug, Default)]
pub(crate) struct HeaderCache(Mutex<VecDeque<(String, CachedHeader)>>);

impl HeaderCache {
    /// Returns the cached header.
    pub(crate) fn get(&self, key: &str) -> Option<CachedHeader> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|(known, _)| known == key).map(|(_, header)| header.clone())
    }

    /// Caches a header, and evicts the oldest one if the cache is full.
    pub(crate) fn put(&self, key: String, header: CachedHeader) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push_back((key, header));
        while all.len() > MOST {
            all.pop_front();
        }
    }
}
