//! A file that is readable while it grows: it has a name from the beginning, and keeps it if the process is killed.
#![allow(clippy::disallowed_methods, reason = "files are written here, for the service")]

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Maximum number of names that earlier files may have.
const ATTEMPTS: u32 = 1000;

/// A growing file next to its final place. Unless it is completed or empty, it keeps its first name.
#[derive(Debug)]
pub struct GrowingFile {
    file: File,
    path: PathBuf,
    target: PathBuf,
    is_completed: bool,
}

impl GrowingFile {
    /// Creates a file next to `target`: `NAME.part`, or `NAME.part-2` and so on if earlier files have these names.
    /// Never follows a symlink, never opens an existing file.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(target: &Path) -> io::Result<Self> {
        for number in 1..=ATTEMPTS {
            let mut path = target.as_os_str().to_owned();
            path.push(if number == 1 { ".part".to_owned() } else { format!(".part-{number}") });
            let path = PathBuf::from(path);
            let mut options = OpenOptions::new();
            options.read(true).write(true).create_new(true).custom_flags(libc::O_NOFOLLOW);
            match options.open(&path) {
                Ok(file) => {
                    return Ok(Self { file, path, target: target.to_owned(), is_completed: false });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Path until it is completed.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it its final name, replacing an existing file.
    ///
    /// # Errors
    /// If it cannot be renamed; it then keeps its first name.
    pub fn complete(mut self) -> io::Result<()> {
        fs::rename(&self.path, &self.target)?;
        self.is_completed = true;
        Ok(())
    }
}

impl AsFd for GrowingFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for GrowingFile {
    fn drop(&mut self) {
        if !self.is_completed && self.file.metadata().is_ok_and(|it| it.len() == 0) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::ScratchDir;

    #[test]
    fn what_was_written_stays_readable() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let target = dir.path().join("keep.perf");
        let part = dir.path().join("keep.perf.part");
        drop(GrowingFile::create(&target).expect("a file"));
        assert!(!part.exists());
        let first = GrowingFile::create(&target).expect("a file");
        assert_eq!(first.path(), part);
        (&first.file).write_all(b"first").expect("written");
        drop(first);
        let second = GrowingFile::create(&target).expect("a file");
        assert_eq!(second.path(), dir.path().join("keep.perf.part-2"));
        (&second.file).write_all(b"second").expect("written");
        second.complete().expect("renamed");
        assert_eq!(fs::read(&part).expect("the first"), b"first");
        assert_eq!(fs::read(&target).expect("the second"), b"second");
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 2);
    }
}
