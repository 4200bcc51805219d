//! A folder of files that this program made for itself, such as its cache.
//! Files appear when they are complete, only this user can read them, and files of others are not read.
#![allow(clippy::disallowed_methods, reason = "files of a folder are made and removed here")]

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::writing::new_file::PARTIAL_PREFIX;
use crate::{Content, NewFile};

/// Resolution of the time of last use: younger times are not updated.
const USE_RESOLUTION: Duration = Duration::from_secs(60);

/// A folder on disk. It is created with the first file.
#[derive(Clone, Debug)]
pub struct PrivateFolder(PathBuf);

/// A file in the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateFile {
    /// Name.
    pub name: OsString,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last read or write.
    pub used: SystemTime,
    /// True for a partial file: being written, or left by a killed writer.
    pub is_partial: bool,
}

impl PrivateFolder {
    /// Maximum size of a file that is read, in bytes.
    pub const LARGEST_FILE: u64 = 1 << 30;

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

    /// Returns the bytes of a file, and records its use.
    /// `None` if it is missing, unreadable or a symlink,
    /// has more than [`Self::LARGEST_FILE`] bytes, or belongs to another user.
    /// The superuser's files are accepted.
    #[must_use]
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        self.bytes(name, true)
    }

    /// Does the same without recording a use.
    #[must_use]
    pub fn peek(&self, name: &str) -> Option<Vec<u8>> {
        self.bytes(name, false)
    }

    /// Returns the content of a file, and records its use. `None` as for [`Self::read`].
    #[must_use]
    pub fn content(&self, name: &str) -> Option<Content> {
        let (file, size) = self.open(name, true).ok()??;
        Content::of_file(&file, size).ok()
    }

    fn bytes(&self, name: &str, is_use: bool) -> Option<Vec<u8>> {
        let (file, size) = self.open(name, is_use).ok()??;
        let mut bytes = Vec::with_capacity(usize::try_from(size).ok()?);
        (&file).take(Self::LARGEST_FILE).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Opens a file if it belongs to this user; returns its size, too.
    fn open(&self, name: &str, is_use: bool) -> io::Result<Option<(File, u64)>> {
        let flags = libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC | libc::O_NOFOLLOW;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(self.0.join(name))?;
        let metadata = file.metadata()?;
        let own = [rustix::process::geteuid().as_raw(), 0].contains(&metadata.uid());
        if !metadata.is_file() || !own || metadata.size() > Self::LARGEST_FILE {
            return Ok(None);
        }
        let now = SystemTime::now();
        let is_old =
            |used: SystemTime| now.duration_since(used).map_or(true, |age| age > USE_RESOLUTION);
        if is_use && metadata.modified().is_ok_and(is_old) {
            // In a read-only folder, uses are not recorded.
            let _ = file.set_modified(now);
        }
        Ok(Some((file, metadata.size())))
    }

    /// Writes a file from these parts, replacing an earlier one.
    /// Creates the folder for this user alone if it is missing.
    ///
    /// # Errors
    /// If it cannot be written; an earlier file then remains.
    pub fn write(&self, name: &str, parts: &[&[u8]]) -> io::Result<()> {
        let all = |out: &mut dyn Write| parts.iter().try_for_each(|part| out.write_all(part));
        self.write_if(name, |out| all(out).map(|()| true)).map(drop)
    }

    /// Does the same with the bytes that `write` writes. Returns its result; if that is false, the file is discarded.
    ///
    /// # Errors
    /// As for [`Self::write`], and errors of `write`.
    pub fn write_if(
        &self,
        name: &str,
        write: impl FnOnce(&mut dyn Write) -> io::Result<bool>,
    ) -> io::Result<bool> {
        let place = self.0.join(name);
        let file = NewFile::create_private(&place);
        let mut file = match file {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                DirBuilder::new().recursive(true).mode(0o700).create(&self.0)?;
                NewFile::create_private(&place)?
            }
            file => file?,
        };
        let is_wanted = write(&mut file)?;
        if is_wanted {
            file.complete()?;
        }
        Ok(is_wanted)
    }

    /// Removes a file. A missing file is not an error.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove(&self, file: &PrivateFile) -> io::Result<()> {
        match fs::remove_file(self.0.join(&file.name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Returns the regular files in it, by name; none if the folder is missing.
    ///
    /// # Errors
    /// If it cannot be listed.
    pub fn files(&self) -> io::Result<Vec<PrivateFile>> {
        let entries = match fs::read_dir(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let file = |entry: fs::DirEntry| {
            let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            let name = entry.file_name();
            let is_partial = name.as_bytes().starts_with(PARTIAL_PREFIX.as_bytes());
            let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            Some(PrivateFile { name, size: metadata.size(), used, is_partial })
        };
        let mut files: Vec<PrivateFile> = entries.filter_map(Result::ok).filter_map(file).collect();
        files.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::ScratchDir;

    #[test]
    fn files_are_of_this_user_alone() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let folder = PrivateFolder::at(dir.path().join("a/b"));
        assert_eq!((folder.read("x"), folder.files().expect("none")), (None, Vec::new()));
        folder.write("x", &[b"one", b"two"]).expect("written");
        folder.write("x", &[b"three"]).expect("written");
        assert_eq!(folder.read("x").as_deref(), Some(&b"three"[..]));
        assert_eq!(folder.content("x").as_deref(), Some(&b"three"[..]));
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o7777;
        assert_eq!((mode(folder.path()), mode(&folder.path().join("x"))), (0o700, 0o600));
        let files = folder.files().expect("a folder");
        let [file] = files.as_slice() else { panic!("one file: {files:?}") };
        assert_eq!((file.name.to_str(), file.size, file.is_partial), (Some("x"), 5, false));
        folder.remove(file).expect("removed");
        folder.remove(file).expect("gone already");
        assert_eq!(folder.read("x"), None);
    }

    #[test]
    fn what_is_read_was_used_last() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let folder = PrivateFolder::at(dir.path().to_owned());
        let used = |name: &str| {
            let files = folder.files().expect("a folder");
            files.into_iter().find(|file| file.name == name).expect("there").used
        };
        for name in ["a", "b"] {
            folder.write(name, &[b"x"]).expect("written");
            let file = File::open(dir.path().join(name)).expect("there");
            file.set_modified(SystemTime::now() - Duration::from_secs(3600)).expect("set");
        }
        assert!(folder.read("a").is_some());
        assert!(used("a") > used("b") + Duration::from_secs(3000));
    }

    #[test]
    fn links_and_folders_are_not_read() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let folder = PrivateFolder::at(dir.path().to_owned());
        folder.write("x", &[b"x"]).expect("written");
        std::os::unix::fs::symlink("x", dir.path().join("link")).expect("a link");
        fs::create_dir(dir.path().join("dir")).expect("a folder");
        fs::write(dir.path().join(".unwind-perf-1"), b"half").expect("a file");
        assert_eq!(["link", "dir", "none"].map(|name| folder.read(name)), [None, None, None]);
        let files = folder.files().expect("a folder");
        let names = files.iter().map(|file| (file.name.to_str().expect("UTF-8"), file.is_partial));
        assert_eq!(names.collect::<Vec<_>>(), [(".unwind-perf-1", true), ("x", false)]);
    }
}
