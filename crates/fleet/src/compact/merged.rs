//! The tree of merged days. The folder of a day appears with its final name when it is complete.
#![allow(clippy::disallowed_methods, reason = "the files of the tree are written here")]

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FlockOperation, RenameFlags, flock, renameat_with};
use rustix::io::Errno;

use super::manifest::{DayManifest, VERSION};
use crate::error::Error;
use crate::tree::{DAY, MANIFEST};

/// Name of the file that a process locks while it writes.
const LOCK: &str = ".lock";

/// A tree of merged days, which one process at a time writes.
#[derive(Debug)]
pub struct MergedTree {
    root: PathBuf,
    /// Folder beside the tree for a day that is not complete.
    staging: PathBuf,
    /// Held until the end of this value.
    _lock: File,
}

impl MergedTree {
    /// Opens a tree, which is created if it does not exist, and locks it.
    ///
    /// # Errors
    /// If it or the folder beside it cannot be written, it is a mount point, or another process writes it.
    pub fn open(out: &Path) -> Result<Self, Error> {
        let failed = || Error::output(out);
        fs::create_dir_all(out).map_err(failed())?;
        let root = out.canonicalize().map_err(failed())?;
        let device = |path: &Path| fs::metadata(path).map(|state| state.dev());
        let (Some(parent), Some(name)) = (root.parent(), root.file_name()) else {
            return Err(Error::MountPoint { path: out.to_owned() });
        };
        if device(parent).map_err(failed())? != device(&root).map_err(failed())? {
            return Err(Error::MountPoint { path: out.to_owned() });
        }
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(".unfinished");
        let staging = parent.join(hidden);
        let path = root.join(LOCK);
        let opened = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let lock = opened.map_err(Error::output(&path))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { root, staging, _lock: lock }),
            Err(Errno::WOULDBLOCK) => Err(Error::Locked { path: out.to_owned() }),
            Err(error) => Err(Error::output(&path)(error.into())),
        }
    }

    /// Returns the absolute path of the tree.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the manifest of a day, if it and the files that it describes are complete.
    pub(super) fn stored(&self, day: &str) -> Option<DayManifest> {
        let folder = self.folder(day);
        let text = fs::read(folder.join(MANIFEST)).ok()?;
        let manifest: DayManifest = serde_json::from_slice(&text).ok()?;
        let mut parts = manifest.tables.iter().flat_map(|table| &table.parts);
        let is_whole = parts.all(|part| {
            fs::metadata(folder.join(&part.part)).is_ok_and(|state| state.len() == part.bytes)
        });
        (manifest.merged == VERSION && is_whole).then_some(manifest)
    }

    fn folder(&self, day: &str) -> PathBuf {
        self.root.join(format!("{DAY}{day}"))
    }

    /// Creates an empty folder for a day. Removes what a killed process left there.
    pub(super) fn stage(&self) -> Result<StagedDay, Error> {
        let staged = StagedDay { staging: self.staging.clone() };
        staged.remove().map_err(Error::output(&self.staging))?;
        let folder = staged.folder();
        fs::create_dir_all(&folder).map_err(Error::output(&folder))?;
        Ok(staged)
    }

    /// Exchanges the folder of a day with a complete one.
    pub(super) fn replace(&self, day: &str, staged: &StagedDay) -> Result<(), Error> {
        let (new, folder) = (staged.folder(), self.folder(day));
        let exchanged = match renameat_with(CWD, &new, CWD, &folder, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(()),
            Err(Errno::NOENT) => fs::rename(&new, &folder),
            // Some file systems cannot exchange: the day is missing for a moment.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                let earlier = staged.staging.join("earlier");
                match fs::rename(&folder, earlier) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                    _ => fs::rename(&new, &folder),
                }
            }
            Err(error) => Err(error.into()),
        };
        exchanged.map_err(Error::output(&folder))
    }
}

/// A folder of a day that is not complete yet, or was replaced. It is removed with this value.
#[derive(Debug)]
pub(super) struct StagedDay {
    staging: PathBuf,
}

impl StagedDay {
    /// Returns the folder.
    pub(super) fn folder(&self) -> PathBuf {
        self.staging.join("day")
    }

    fn remove(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.staging) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

impl Drop for StagedDay {
    fn drop(&mut self) {
        // The next run removes it otherwise.
        let _ = self.remove();
    }
}
