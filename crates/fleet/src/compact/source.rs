//! The tree that is merged: its days and files.
#![allow(clippy::disallowed_methods, reason = "the user named the tree")]

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::tree::{DAY, LAYOUT, is_hidden};

/// Ending of the names of files with rows.
const ENDING: &str = ".parquet";
/// Keys in names of folders that remain folders: rows of other options are no duplicates of each other.
const FOLDERS: &[&str] = &["opts"];

/// A tree of tables with a folder for each day.
#[derive(Debug)]
pub struct SourceTree {
    root: PathBuf,
}

/// A file with rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SourceFile {
    pub(super) path: PathBuf,
    /// Path below the folder of the day.
    pub(super) below_day: String,
    /// Folder of the merged rows, below that of the day; empty for the day itself.
    pub(super) folder: String,
    /// Names of folders that become columns.
    pub(super) columns: Vec<(String, String)>,
    /// Size in bytes.
    pub(super) bytes: u64,
    /// Time of the last write, in nanoseconds since 1970.
    pub(super) written_ns: i64,
}

impl SourceTree {
    /// Opens a tree with folders `date=DAY`, or the folder in which `convert` made one.
    ///
    /// # Errors
    /// If it cannot be read, or has no such folder.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let absolute = folder.canonicalize().map_err(Error::tree(folder))?;
        for root in [absolute.clone(), absolute.join(LAYOUT)] {
            let tree = Self { root };
            if tree.root.is_dir() && !tree.days()?.is_empty() {
                return Ok(tree);
            }
        }
        Err(Error::NotATree { path: folder.to_owned() })
    }

    /// Returns the absolute path of the tree.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the days of the tree, in ascending order.
    ///
    /// # Errors
    /// If the tree cannot be read.
    pub fn days(&self) -> Result<Vec<String>, Error> {
        let failed = || Error::tree(&self.root);
        let mut days = Vec::new();
        for entry in fs::read_dir(&self.root).map_err(failed())? {
            let entry = entry.map_err(failed())?;
            let name = entry.file_name();
            let day = name.to_str().and_then(|name| name.strip_prefix(DAY));
            if let (Some(day), true) = (day, entry.path().is_dir()) {
                days.push(day.to_owned());
            }
        }
        days.sort_unstable();
        Ok(days)
    }

    /// Returns the files of a day, sorted by path.
    ///
    /// # Errors
    /// If a folder cannot be read, or has a name without a value.
    pub(super) fn files(&self, day: &str) -> Result<Vec<SourceFile>, Error> {
        let folder = self.root.join(format!("{DAY}{day}"));
        let mut files = Vec::new();
        add_files(&folder, &folder, &mut files)?;
        files.sort_by(|one, other| one.below_day.cmp(&other.below_day));
        Ok(files)
    }
}

fn add_files(day: &Path, folder: &Path, files: &mut Vec<SourceFile>) -> Result<(), Error> {
    let failed = || Error::tree(folder);
    for entry in fs::read_dir(folder).map_err(failed())? {
        let entry = entry.map_err(failed())?;
        let (name, path) = (entry.file_name(), entry.path());
        if is_hidden(&name) {
            continue;
        }
        if entry.file_type().map_err(failed())?.is_dir() {
            add_files(day, &path, files)?;
        } else if name.as_encoded_bytes().ends_with(ENDING.as_bytes()) {
            files.push(file_of(day, path)?);
        }
    }
    Ok(())
}

fn file_of(day: &Path, path: PathBuf) -> Result<SourceFile, Error> {
    let state = fs::metadata(&path).map_err(Error::tree(&path))?;
    let below = path.strip_prefix(day).unwrap_or(&path);
    let (mut folders, mut columns) = (Vec::new(), Vec::new());
    for folder in below.parent().into_iter().flat_map(Path::components) {
        let name = folder.as_os_str().to_string_lossy().into_owned();
        let Some((key, value)) = name.split_once('=') else {
            return Err(Error::FolderName { path });
        };
        if FOLDERS.contains(&key) {
            folders.push(name);
        } else {
            columns.push((key.to_owned(), value.to_owned()));
        }
    }
    let nanoseconds = state.mtime().saturating_mul(1_000_000_000);
    Ok(SourceFile {
        below_day: below.to_string_lossy().into_owned(),
        folder: folders.join("/"),
        columns,
        bytes: state.len(),
        written_ns: nanoseconds.saturating_add(state.mtime_nsec()),
        path,
    })
}
