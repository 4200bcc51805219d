//! A folder of entries, which are folders of files: a store that may also hold files of other programs.
//! Nothing below it is reached through a symlink.
#![allow(clippy::disallowed_methods, reason = "folders are made and removed here")]

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, statvfs, unlinkat};
use rustix::io::Errno;

use super::entry::PrivateEntry;

/// A folder on disk with entries below it, each a folder of files. It is created with the first entry.
#[derive(Clone, Debug)]
pub struct PrivateTree(PathBuf);

/// Mode of folders that only this user can enter.
const PRIVATE: Mode = Mode::RWXU;

impl PrivateTree {
    /// Returns the folder at a path, which need not exist.
    #[must_use]
    pub const fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// Path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns true if the folder exists.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.0.is_dir()
    }

    /// Opens an entry by its path below the folder; creates missing folders for this user alone.
    ///
    /// # Errors
    /// If a folder cannot be created, or a part of the path is a symlink or a file.
    pub fn create(&self, entry: &Path) -> io::Result<PrivateEntry> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.0)?;
        self.walk(entry, true)
    }

    /// Opens an existing entry.
    ///
    /// # Errors
    /// If it does not exist, or a part of its path is a symlink or a file.
    pub fn open(&self, entry: &Path) -> io::Result<PrivateEntry> {
        self.walk(entry, false)
    }

    fn walk(&self, entry: &Path, create: bool) -> io::Result<PrivateEntry> {
        let mut folder = OwnedFd::from(File::open(&self.0)?);
        for name in names(entry)? {
            if create {
                match mkdirat(&folder, name, PRIVATE) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            folder = openat(&folder, name, FOLDER, Mode::empty())?;
        }
        Ok(PrivateEntry::new(folder, self.0.join(entry)))
    }

    /// Returns the entries below a folder of this one, in order: the real folders `depth` levels below it.
    ///
    /// # Errors
    /// If a folder cannot be listed. A missing folder has no entries.
    pub fn entries(&self, below: &Path, depth: u32) -> io::Result<Vec<PathBuf>> {
        let mut found = vec![below.to_owned()];
        for _ in 0..depth {
            let mut next = Vec::new();
            for folder in &found {
                let listed = match fs::read_dir(self.0.join(folder)) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    listed => listed?,
                };
                let folders = listed.filter_map(Result::ok);
                // The kind is that of the entry itself, so symlinks are omitted.
                let folders = folders.filter(|it| it.file_type().is_ok_and(|kind| kind.is_dir()));
                next.extend(folders.map(|it| folder.join(it.file_name())));
            }
            found = next;
        }
        found.sort();
        Ok(found)
    }

    /// Removes the folder of an entry, and its ancestors while they are empty.
    pub fn prune(&self, entry: &Path) {
        let mut entry = entry;
        while let (Some(parent), Some(name)) = (entry.parent(), entry.file_name()) {
            let removed = self
                .open(parent)
                .and_then(|folder| Ok(unlinkat(folder.as_fd(), name, AtFlags::REMOVEDIR)?));
            if removed.is_err() {
                return;
            }
            entry = parent;
        }
    }

    /// Returns the bytes that this user may still write on the present or future file system of the folder.
    ///
    /// # Errors
    /// If the system does not report it.
    pub fn free_bytes(&self) -> io::Result<u64> {
        let system = statvfs(nearest(&self.0).as_path())?;
        Ok(system.f_bavail.saturating_mul(system.f_frsize))
    }

    /// Returns the other user who owns this folder or an existing ancestor of it, up to `home`.
    /// `None` if all owners are this user or the superuser.
    #[must_use]
    pub fn other_owner(&self, home: &Path) -> Option<u32> {
        let this = rustix::process::geteuid().as_raw();
        let home = nearest(home);
        let folders = self.0.ancestors().filter(|folder| folder.starts_with(&home));
        folders
            .filter_map(|folder| fs::metadata(folder).ok())
            .map(|it| it.uid())
            .find(|&owner| owner != this && owner != 0)
    }
}

/// Flags for a folder that is not a symlink.
const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Returns the names of a relative path.
fn names(path: &Path) -> io::Result<Vec<&std::ffi::OsStr>> {
    let name = |component| match component {
        Component::Normal(name) => Ok(name),
        _ => Err(io::Error::from(io::ErrorKind::InvalidInput)),
    };
    path.components().map(name).collect()
}

/// Returns the path itself, or its nearest existing ancestor.
fn nearest(path: &Path) -> PathBuf {
    let mut ancestors = path.ancestors().filter(|it| !it.as_os_str().is_empty());
    let found = ancestors.find(|it| it.is_dir());
    found.map_or_else(|| PathBuf::from(if path.is_absolute() { "/" } else { "." }), Path::to_owned)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::ScratchDir;

    #[test]
    fn entries_are_of_this_user_alone_and_never_behind_links() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let tree = PrivateTree::at(dir.path().join("x/store"));
        assert!(!tree.is_there() && tree.free_bytes().expect("known") > 0);
        assert_eq!(tree.entries(Path::new("ids"), 2).expect("none"), Vec::<PathBuf>::new());
        tree.create(Path::new("ids/ab/cd")).expect("created");
        let mode = |path: &str| {
            fs::metadata(dir.path().join(path)).expect("there").permissions().mode() & 0o7777
        };
        assert_eq!(["x", "x/store", "x/store/ids/ab/cd"].map(mode), [0o700; 3]);
        std::os::unix::fs::symlink("cd", tree.path().join("ids/ab/link")).expect("a link");
        let error = tree.create(Path::new("ids/ab/link")).expect_err("a link");
        assert_eq!(error.raw_os_error(), Some(Errno::NOTDIR.raw_os_error()));
        assert!(tree.open(Path::new("ids/../ids")).is_err() && tree.open(Path::new("/")).is_err());
        assert_eq!(tree.entries(Path::new("ids"), 2).expect("one"), [Path::new("ids/ab/cd")]);
        tree.prune(Path::new("ids/ab/cd"));
        assert!(tree.path().join("ids/ab").is_dir(), "the link is in it");
        fs::remove_file(tree.path().join("ids/ab/link")).expect("removed");
        tree.prune(Path::new("ids/ab"));
        assert!(!tree.path().join("ids").exists() && tree.is_there());
    }

    #[test]
    fn a_folder_of_another_user_is_reported() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let tree = PrivateTree::at(dir.path().join("cache/store"));
        assert_eq!(tree.other_owner(dir.path()), None);
        assert_eq!(tree.other_owner(Path::new("/none/of/it")), None);
        // Only the superuser can give a folder away.
        if std::os::unix::fs::chown(dir.path(), Some(12_345), None).is_ok() {
            assert_eq!(tree.other_owner(dir.path()), Some(12_345));
            assert_eq!(tree.other_owner(&dir.path().join("cache")), Some(12_345));
        }
    }
}
