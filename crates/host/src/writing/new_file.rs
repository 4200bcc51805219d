//! Files that appear when they are complete. The only place that creates files.
//! Each is a new one in the folder of its place, without a name or with an unpredictable one.
//! It is removed if the writing ends early, also by a signal.
#![allow(
    clippy::disallowed_methods,
    reason = "files are written here, for libraries and the command"
)]

use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use rustix::io::Errno;

use crate::writing::draft::{Draft, Folder};

/// Prefix of the names of partial files.
pub(crate) const PARTIAL_PREFIX: &str = ".unwind-perf-";

/// A file being written, and its place. Removed unless it is completed.
#[derive(Debug)]
pub struct NewFile {
    draft: Draft,
    target: PathBuf,
}

impl NewFile {
    /// Creates a file in the folder of `target`, its final name.
    /// It has no name until it is complete, if the file system supports that.
    /// Never follows a symlink, never opens an existing file.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(target: &Path) -> io::Result<Self> {
        Self::with_mode(target, 0o666)
    }

    /// Creates a file that only this user can read.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create_private(target: &Path) -> io::Result<Self> {
        Self::with_mode(target, 0o600)
    }

    fn with_mode(target: &Path, mode: u32) -> io::Result<Self> {
        // Only folders have such names.
        if [&b"/"[..], b"/."].iter().any(|end| target.as_os_str().as_bytes().ends_with(end)) {
            return Err(Errno::NOTDIR.into());
        }
        let draft = Draft::new(Folder::of(target), Mode::from_raw_mode(mode))?;
        Ok(Self { draft, target: target.to_owned() })
    }

    /// Returns a path for this process to open the file during the writing.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.draft.path()
    }

    /// Gives the file its name, replacing an existing file.
    ///
    /// # Errors
    /// If it cannot be linked or renamed; then it is removed.
    pub fn complete(self) -> io::Result<()> {
        let target = self.target.clone();
        self.complete_as(&target)
    }

    /// Does the same with another name in the same folder, which was unknown at first.
    ///
    /// # Errors
    /// The same as of [`Self::complete`].
    pub fn complete_as(self, target: &Path) -> io::Result<()> {
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        self.draft.complete(Folder::of(&self.target), Path::new(name))
    }

    /// Gives the file the first of these names that is free in its folder, and returns that path.
    /// No file is replaced.
    ///
    /// # Errors
    /// If no name is free, or it cannot be linked or renamed; then it is removed.
    pub fn complete_as_new(self, names: impl Iterator<Item = PathBuf>) -> io::Result<PathBuf> {
        let folder = Folder::of(&self.target);
        let name = self.draft.complete_as_new(folder, names)?;
        Ok(folder.below.join(name))
    }

    /// Returns the number of bytes in the file.
    ///
    /// # Errors
    /// If the system does not report it.
    pub fn size(&self) -> io::Result<u64> {
        Ok(self.draft.file().metadata()?.len())
    }
}

/// For another process that writes it.
impl AsFd for NewFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.draft.file().as_fd()
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.draft.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.draft.file().flush()
    }
}

/// Writes a file on disk and creates missing folders. The file appears only when it is complete.
/// If `write` fails, the partial file is removed and an existing file remains.
///
/// # Errors
/// Errors of `write`, or if the file cannot be created.
pub fn replace_file(
    path: &Path,
    write: impl FnOnce(&mut NewFile) -> io::Result<()>,
) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    fs::create_dir_all(folder)?;
    let mut file = NewFile::create(path)?;
    write(&mut file)?;
    file.complete()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScratchDir;

    #[test]
    fn a_file_is_there_as_a_whole_or_not_at_all() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let path = dir.path().join("a/b/file");
        replace_file(&path, |file| file.write_all(b"first")).expect("written");
        let failed = replace_file(&path, |file| {
            file.write_all(b"sec")?;
            Err(io::Error::from(io::ErrorKind::Interrupted))
        });
        assert_eq!(failed.expect_err("broken off").kind(), io::ErrorKind::Interrupted);
        assert_eq!(std::fs::read(&path).expect("the first"), b"first");
        let names = std::fs::read_dir(dir.path().join("a/b")).expect("a folder");
        assert_eq!(names.count(), 1);
    }

    #[test]
    fn a_place_that_names_a_folder_is_refused() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        for end in ["new/", "new/."] {
            let refused = NewFile::create(&dir.path().join(end)).expect_err("a folder");
            assert_eq!(refused.raw_os_error(), Some(Errno::NOTDIR.raw_os_error()));
        }
    }

    #[test]
    fn several_are_written_at_a_time() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let target = dir.path().join("file");
        let (mut first, mut second) =
            (NewFile::create(&target).expect("new"), NewFile::create(&target).expect("new"));
        first.write_all(b"first").expect("written");
        second.write_all(b"second").expect("written");
        first.complete().expect("renamed");
        assert_eq!(std::fs::read(&target).expect("a file"), b"first");
        drop(second);
        assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 1);
    }
}
