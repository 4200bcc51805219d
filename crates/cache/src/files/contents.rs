//! Contents of a store, and its removal.

use std::fmt;
use std::io;

use hashbrown::HashSet;

use super::FileStore;

/// Contents of a store that this program made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StoreContents {
    /// Number of files.
    pub files: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// Number of their entries: one for each build-id, or for each file of a recording without one.
    pub entries: u64,
    /// Number of partial files: being written, or left by a killed writer.
    pub partial_files: u64,
    /// Their size in bytes.
    pub partial_bytes: u64,
}

impl StoreContents {
    /// Lists a store. A missing store has no files.
    ///
    /// # Errors
    /// If a folder cannot be listed.
    pub fn of(store: &FileStore) -> io::Result<Self> {
        let mut found = Self::default();
        let mut entries = HashSet::new();
        for stored in store.files()? {
            if stored.file.is_partial {
                found.partial_files += 1;
                found.partial_bytes += stored.file.size;
            } else {
                found.files += 1;
                found.bytes += stored.file.size;
                entries.insert(stored.entry);
            }
        }
        found.entries = entries.len() as u64;
        Ok(found)
    }

    /// Removes all files of this program from a store; returns their number and their size in bytes.
    ///
    /// # Errors
    /// If a folder cannot be listed, or a file cannot be removed.
    pub fn clear(store: &FileStore) -> io::Result<(u64, u64)> {
        let (mut files, mut bytes) = (0, 0);
        for stored in store.files()? {
            store.remove(&stored)?;
            files += 1;
            bytes += stored.file.size;
        }
        Ok((files, bytes))
    }

    /// Returns true if the store has no files of this program.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.files == 0 && self.partial_files == 0
    }
}

impl fmt::Display for StoreContents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { files, bytes, entries, partial_files, partial_bytes } = self;
        write!(f, "recorded files: {files}, bytes: {bytes}, of programs and libraries: {entries}")?;
        if *partial_files > 0 {
            write!(f, "\nnot completed: {partial_files}, bytes: {partial_bytes}")?;
        }
        Ok(())
    }
}
