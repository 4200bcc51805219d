//! Size limit of a store.

use std::io;

use super::FileStore;

/// The store may take one of this many parts of the free space: with ten parts left, it is at most a tenth of them.
const PARTS: u64 = 11;

/// A store and its size limit.
#[derive(Clone, Debug)]
pub struct LimitedStore {
    /// The store.
    pub store: FileStore,
    /// Maximum size of all its files, in bytes.
    pub most: u64,
}

impl LimitedStore {
    /// Default size limit, in bytes.
    pub const DEFAULT_SIZE: u64 = 2 << 30;

    /// Returns the current limit in bytes: [`Self::most`], and at most a tenth of the space that then remains free.
    /// `stored` is the present size of the store.
    pub(super) fn limit(&self, stored: u64) -> io::Result<u64> {
        let free = self.store.0.free_bytes()?;
        Ok(self.most.min(free.saturating_add(stored) / PARTS))
    }
}
