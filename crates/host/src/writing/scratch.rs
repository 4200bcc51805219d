//! A new folder for unpacked files, removed with its value.
#![allow(clippy::disallowed_methods, reason = "folders are made here, for everything else")]

use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};

use rustix::fs::CWD;

use crate::allocator::hold_temporary;
use crate::writing::leftovers::{hold, remove_leftovers};
use crate::writing::temporaries::{Temporary, random_name};

/// Prefix of the names of temporary folders.
pub(crate) const SCRATCH: &str = "unwind-perf-";
/// Prefix for folders of recordings, which no other process removes.
const RECORDINGS: &str = "unwind-perf-recordings-";

/// A new folder on disk that only this user can enter. It is removed with its contents when this value is dropped.
#[derive(Debug)]
pub struct ScratchDir {
    temporary: Temporary,
    /// Holds a lock, which shows other processes that it is in use.
    _held: File,
    /// True if its files are in memory: on tmpfs.
    is_in_memory: bool,
    held: AtomicI64,
}

/// Source: linux/magic.h, `TMPFS_MAGIC`.
const TMPFS: i128 = 0x0102_1994;

impl ScratchDir {
    /// Creates a folder below `parent`.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn below(parent: &Path) -> io::Result<Self> {
        remove_leftovers(parent);
        Self::named(parent, SCRATCH)
    }

    /// Creates a folder for recordings: if this process is killed, the file remains for the user.
    ///
    /// # Errors
    /// The same as of [`Self::below`].
    pub fn for_recordings(parent: &Path) -> io::Result<Self> {
        Self::named(parent, RECORDINGS)
    }

    fn named(parent: &Path, prefix: &str) -> io::Result<Self> {
        const ATTEMPTS: u32 = 16;
        for _ in 0..ATTEMPTS {
            let create = |path: &Path| {
                DirBuilder::new().mode(0o700).create(path)?;
                // Another process may remove it before it is locked.
                let taken = |error: io::Error| match error.kind() {
                    io::ErrorKind::NotFound => io::ErrorKind::AlreadyExists.into(),
                    _ => error,
                };
                let folder = File::open(path).map_err(taken)?;
                hold(folder.as_fd(), CWD, path)?;
                Ok(folder)
            };
            match Temporary::file(parent.join(random_name(prefix)), create) {
                Ok((temporary, held)) => {
                    let stat = rustix::fs::statfs(temporary.path());
                    let is_in_memory = stat.is_ok_and(|stat| i128::from(stat.f_type) == TMPFS);
                    return Ok(Self {
                        temporary,
                        _held: held,
                        is_in_memory,
                        held: AtomicI64::new(0),
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::from(io::ErrorKind::AlreadyExists))
    }

    /// Path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Counts `bytes` as memory of the process if files are in memory.
    /// Call before writing them to a file of the folder.
    pub fn hold(&self, bytes: u64) {
        if self.is_in_memory {
            let bytes = i64::try_from(bytes).unwrap_or(i64::MAX >> 8);
            self.held.fetch_add(bytes, Ordering::Relaxed);
            hold_temporary(bytes);
        }
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        hold_temporary(-*self.held.get_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_fresh_and_go() {
        let first = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let second = ScratchDir::below(&std::env::temp_dir()).expect("another");
        assert_ne!(first.path(), second.path());
        std::fs::write(first.path().join("file"), b"x").expect("a file");
        let path = first.path().to_owned();
        drop(first);
        assert!(!path.exists() && second.path().is_dir());
    }

    #[test]
    fn a_folder_of_recordings_is_no_leftover() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let killed = ScratchDir::for_recordings(dir.path()).expect("a folder");
        let place = killed.path().to_owned();
        // The folder of a killed process: it exists, and its lock is free.
        drop(killed);
        std::fs::create_dir(&place).expect("a folder");
        let name = place.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(name.starts_with("unwind-perf-recordings-"), "{name}");
        drop(ScratchDir::below(dir.path()).expect("another"));
        assert!(place.is_dir());
    }
}
