//! An entry of a store: a folder of files that appear when they are complete.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, Timespec, Timestamps, UTIME_NOW, ioctl_ficlone, statat, unlinkat,
    utimensat,
};
use rustix::io::Errno;

use super::folder::PrivateFile;
use crate::Content;
use crate::writing::draft::{Draft, Folder};
use crate::writing::new_file::PARTIAL_PREFIX;

/// Number of bytes per write.
const PIECE: usize = 1 << 20;

/// An opened folder of files.
#[derive(Debug)]
pub struct PrivateEntry {
    folder: OwnedFd,
    path: PathBuf,
}

impl PrivateEntry {
    pub(super) const fn new(folder: OwnedFd, path: PathBuf) -> Self {
        Self { folder, path }
    }

    /// Returns the regular files in it, in no particular order.
    ///
    /// # Errors
    /// If it cannot be listed.
    pub fn files(&self) -> io::Result<Vec<PrivateFile>> {
        let mut files = Vec::new();
        for entry in Dir::read_from(&self.folder)? {
            let name = OsString::from_vec(entry?.file_name().to_bytes().to_vec());
            files.extend(self.file(&name));
        }
        Ok(files)
    }

    /// Returns a regular file by name; `None` for other file types.
    fn file(&self, name: &OsString) -> Option<PrivateFile> {
        let stat = statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return None;
        }
        let seconds = Duration::from_secs(u64::try_from(stat.st_mtime).unwrap_or(0));
        Some(PrivateFile {
            is_partial: name.as_bytes().starts_with(PARTIAL_PREFIX.as_bytes()),
            name: name.clone(),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            used: SystemTime::UNIX_EPOCH + seconds,
        })
    }

    /// Records the use of a file.
    ///
    /// # Errors
    /// If the time cannot be written.
    pub fn touch(&self, name: &str) -> io::Result<()> {
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let times = Timestamps { last_access: now, last_modification: now };
        Ok(utimensat(&self.folder, name, &times, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Removes a file. A missing file is not an error.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove(&self, name: &Path) -> io::Result<()> {
        match unlinkat(&self.folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes a file that only this user can read.
    /// It shares the blocks of `source` if the file system can, else it is a copy of `bytes`, the content of `source`.
    /// It gets its name if `is_right` accepts the copy.
    ///
    /// # Errors
    /// If it cannot be written, or is not accepted. It is then removed.
    pub fn write(
        &self,
        name: &str,
        bytes: &[u8],
        source: Option<&File>,
        is_right: impl FnOnce(Content) -> bool,
    ) -> io::Result<()> {
        let folder =
            Folder { at: self.folder.as_fd(), below: Path::new(""), path: self.path.as_path() };
        let draft = Draft::new(folder, Mode::RUSR | Mode::WUSR)?;
        let mut file = draft.file();
        let len = bytes.len() as u64;
        let is_shared = source.is_some_and(|source| ioctl_ficlone(file, source).is_ok())
            && file.metadata()?.len() == len;
        if !is_shared {
            file.set_len(0)?;
            for piece in bytes.chunks(PIECE) {
                file.write_all(piece)?;
            }
        }
        if !is_right(Content::of_file(file, len)?) {
            return Err(io::Error::other("the file changed while it was copied"));
        }
        draft.complete(folder, Path::new(name))
    }
}

impl AsFd for PrivateEntry {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at what was written")]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::{PrivateTree, ScratchDir};

    fn names(entry: &PrivateEntry) -> Vec<(String, u64)> {
        let files = entry.files().expect("a folder").into_iter();
        let mut names: Vec<_> =
            files.map(|file| (file.name.to_string_lossy().into_owned(), file.size)).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_there_as_a_whole_or_not_at_all() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let entry = PrivateTree::at(dir.path().to_owned()).create(Path::new("e")).expect("created");
        let place = dir.path().join("e/elf");
        let source = dir.path().join("source");
        std::fs::write(&source, b"bytes").expect("a file");
        let opened = File::open(&source).expect("the file");
        for (bytes, source) in [(b"bytes", Some(&opened)), (b"other", None)] {
            let is_right = |content: Content| content[..] == bytes[..];
            entry.write("elf", bytes, source, is_right).expect("written");
            assert_eq!(std::fs::read(&place).expect("a file"), bytes);
            let metadata = std::fs::metadata(&place).expect("a file");
            assert_eq!(metadata.permissions().mode() & 0o7777, 0o600);
            use std::os::unix::fs::MetadataExt as _;
            assert_eq!(metadata.nlink(), 1, "no hard link");
        }
        let refused = entry.write("elf", b"third", None, |_| false).expect_err("not accepted");
        assert_eq!(refused.to_string(), "the file changed while it was copied");
        assert_eq!(std::fs::read(&place).expect("a file"), b"other");
        assert_eq!(names(&entry), [("elf".to_owned(), 5)]);
        entry.touch("elf").expect("touched");
        entry.remove(Path::new("elf")).expect("removed");
        entry.remove(Path::new("elf")).expect("gone already");
        assert_eq!(names(&entry), []);
    }

    #[test]
    fn links_are_replaced_and_never_followed() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let entry = PrivateTree::at(dir.path().to_owned()).create(Path::new("e")).expect("created");
        let other = dir.path().join("other");
        std::fs::write(&other, b"mine").expect("a file");
        std::os::unix::fs::symlink(&other, dir.path().join("e/elf")).expect("a link");
        assert_eq!(names(&entry), []);
        entry.write("elf", b"bytes", None, |_| true).expect("written");
        assert_eq!(std::fs::read(&other).expect("a file"), b"mine");
        assert_eq!(names(&entry), [("elf".to_owned(), 5)]);
    }
}
