//! The size of a store.

use std::io;

use super::FileStore;

/// Parts of the free space of which the store may take one. With ten parts left free, the store is at most a tenth of them.
const PARTS: u64 = 11;

/// A store, and the bytes that its files have at most.
#[derive(Clone, Debug)]
pub struct StorePlace {
    /// The store.
    pub store: FileStore,
    /// Bytes of all its files at most.
    pub most: u64,
}

impl StorePlace {
    /// Bytes of the files of a store by default.
    pub const USUAL_SIZE: u64 = 2 << 30;

    /// The bytes that the store may have now: [`Self::most`], and at most a tenth of the space that then is free. `stored`
    /// bytes are in it.
    pub(super) fn limit(&self, stored: u64) -> io::Result<u64> {
        let free = self.store.0.free_bytes()?;
        Ok(self.most.min(free.saturating_add(stored) / PARTS))
    }
}
