//! Files below directories that the user named: found by the last part of a recorded path, wherever they are below.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Directories below each other that are entered.
const DEEPEST: usize = 32;
/// Files that are kept in mind; a whole system has less.
const MOST: usize = 1 << 20;

/// The files below some directories.
#[derive(Debug, Clone, Default)]
pub struct ExtraFiles(Arc<BTreeMap<OsString, Vec<PathBuf>>>);

impl ExtraFiles {
    /// Lists the directories; what cannot be read is left out, and links to directories are not followed.
    #[must_use]
    pub fn below(dirs: &[PathBuf]) -> Self {
        let mut files = BTreeMap::new();
        let mut room = MOST;
        dirs.iter().for_each(|dir| list(dir, DEEPEST, &mut room, &mut files));
        Self(Arc::new(files))
    }

    /// The files of that name, those in the first directory and nearest to it first.
    pub(crate) fn named(&self, name: Option<&OsStr>) -> impl Iterator<Item = PathBuf> + use<'_> {
        let found = name.and_then(|name| self.0.get(name));
        found.into_iter().flatten().cloned()
    }
}

fn list(dir: &Path, depth: usize, room: &mut usize, files: &mut BTreeMap<OsString, Vec<PathBuf>>) {
    let entries = fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok);
    let mut entries: Vec<_> = entries.take(*room).collect();
    *room -= entries.len();
    // The order of a directory is not the same everywhere.
    entries.sort_by_key(fs::DirEntry::file_name);
    let mut below = Vec::new();
    for entry in entries {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => below.push(entry.path()),
            Ok(kind) if kind.is_file() || kind.is_symlink() && entry.path().is_file() => {
                files.entry(entry.file_name()).or_default().push(entry.path());
            }
            _ => {}
        }
    }
    if depth > 0 {
        below.iter().for_each(|dir| list(dir, depth - 1, room, files));
    }
}
