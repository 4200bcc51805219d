//! A store of files by build-id: copies of the programs and libraries with samples in recordings.
//! A recording thus keeps its names and stacks if these are rebuilt, upgraded or removed.
//!
//! ```text
//!   FOLDER/.build-id/ab/cdef…/elf       the file of build-id abcdef…
//!                             debug     its separate debug file
//!                             NAME      its debug file without a build-id, by the name of its link
//!                             elf.dwp   its package of split DWARF
//!                             unwind-perf   marks the entry as one of this program
//!   FOLDER/by-recording/KEY/FILE/elf    a file without a build-id in the recording
//! ```
//!
//! The layout is that of perf's build-id cache, so that a folder can be both.
//! Only entries with the mark count for the limit and are ever removed.
//! Files without a recorded build-id belong to one recording, with a key from its content: inode numbers are reused.

mod add;
mod contents;
mod limited_store;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use address::BuildId;
use host::{PrivateFile, PrivateTree};
use image_store::RECORDED_COPIES;

pub use add::{FilePart, StoreResult};
pub use contents::StoreContents;
pub use limited_store::LimitedStore;

/// Folder of the entries by build-id, below that of the store.
const BY_ID: &str = ".build-id";
/// Number of folder levels from there, or from [`RECORDED_COPIES`], to an entry.
const DEPTH: u32 = 2;
/// The file that marks an entry. It contains the recorded path of the file.
const MARK: &str = "unwind-perf";

/// A store of files by build-id.
#[derive(Clone, Debug)]
pub struct FileStore(PrivateTree);

/// A file of a store.
#[derive(Debug)]
struct StoredFile {
    entry: PathBuf,
    file: PrivateFile,
}

impl FileStore {
    /// Returns the store in a folder, which need not exist.
    #[must_use]
    pub const fn at(folder: PathBuf) -> Self {
        Self(PrivateTree::at(folder))
    }

    /// Its folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.0.path()
    }

    /// Returns the other user who owns the store's folder, or would own it, from `home` downwards.
    /// `None` if that is this user or the superuser.
    #[must_use]
    pub fn other_owner(&self, home: &Path) -> Option<u32> {
        self.0.other_owner(home)
    }

    /// Returns the files of all entries with the mark, without the marks.
    ///
    /// # Errors
    /// If a folder cannot be listed.
    fn files(&self) -> std::io::Result<Vec<StoredFile>> {
        let mut found = Vec::new();
        let mut entries = self.0.entries(Path::new(BY_ID), DEPTH)?;
        entries.extend(self.0.entries(Path::new(RECORDED_COPIES), DEPTH)?);
        for entry in entries {
            // Another process may have removed it.
            let Ok(files) = self.0.open(&entry).and_then(|folder| folder.files()) else { continue };
            if files.iter().any(|file| file.name == MARK) {
                let files = files.into_iter().filter(|file| file.name != MARK);
                found.extend(files.map(|file| StoredFile { entry: entry.clone(), file }));
            }
        }
        Ok(found)
    }

    /// Removes a file, and its entry if it has no other file.
    fn remove(&self, stored: &StoredFile) -> std::io::Result<()> {
        let Ok(folder) = self.0.open(&stored.entry) else { return Ok(()) };
        folder.remove(Path::new(&stored.file.name))?;
        if folder.files()?.iter().all(|file| file.name == MARK) {
            folder.remove(Path::new(MARK))?;
            self.0.prune(&stored.entry);
        }
        Ok(())
    }
}

/// Path of an entry below the folder of a store.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct StoreEntry(PathBuf);

impl StoreEntry {
    /// Returns the entry of a build-id.
    #[must_use]
    pub fn of_build_id(id: BuildId) -> Self {
        let hex = id.to_string();
        let (first, rest) = hex.split_at(hex.len().min(2));
        Self(Path::new(BY_ID).join(first).join(rest))
    }

    /// Returns the entry of a file without a build-id in the recording.
    /// `recording` is the key of the recording, `copy` the name of the file among its files.
    #[must_use]
    pub fn of_recording(recording: &str, copy: &str) -> Self {
        Self(Path::new(RECORDED_COPIES).join(recording).join(copy))
    }
}
