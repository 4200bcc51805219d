//! Metadata of files, and files that are open.
#![allow(clippy::disallowed_methods, reason = "a part of the host that everything else queries")]

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::hash::{Hash, Hasher};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use crate::error::io_error;
use crate::{Content, HostError, READ_LIMIT};

/// Kind of a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum FileKind {
    /// A regular file.
    Regular,
    /// A folder.
    Directory,
    /// A symbolic link; only in lists, because [`crate::Host::stat`] follows links.
    Link,
    /// A FIFO.
    Fifo,
    /// A device or socket.
    Special,
}

/// Identity and version of a file: opened files with equal stamps have the same content.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct FileStamp {
    /// Device (`st_dev`).
    pub device: u64,
    /// Inode number on it (`st_ino`).
    pub inode: u64,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change of its content, in nanoseconds since 1970.
    pub modified: i128,
    /// Time of the last change of its content or metadata (`st_ctime`), in nanoseconds since 1970, which no program can
    /// choose; 0 if unknown. Another link to a file changes it, so equal stamps may differ in it.
    pub changed: i128,
}

impl PartialEq for FileStamp {
    fn eq(&self, other: &Self) -> bool {
        self.version() == other.version()
    }
}

impl Eq for FileStamp {}

impl Hash for FileStamp {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.version().hash(state);
    }
}

impl FileStamp {
    /// The parts that identify the content while programs are not hostile.
    const fn version(&self) -> (u64, u64, u64, i128) {
        (self.device, self.inode, self.size, self.modified)
    }

    /// Returns all parts, also the time of the last change of the metadata, as bytes for keys of caches.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 56] {
        let Self { device, inode, size, modified, changed } = self;
        let mut bytes = [0; 56];
        let numbers = [device, inode, size].map(|it| it.to_le_bytes());
        let times = [modified, changed].map(|it| it.to_le_bytes());
        let all = numbers.as_flattened().iter().chain(times.as_flattened());
        bytes.iter_mut().zip(all).for_each(|(byte, part)| *byte = *part);
        bytes
    }

    /// Returns the stamp of an opened file. `path` is for errors.
    ///
    /// # Errors
    /// If it is not a regular file, or the system does not report on it.
    pub fn of(path: &Path, file: &File) -> Result<Self, HostError> {
        let metadata = file.metadata().map_err(|source| io_error(path, source))?;
        if metadata.is_file() {
            Ok(stamp_of(&metadata))
        } else {
            Err(HostError::NotRegular { path: path.to_owned() })
        }
    }
}

/// Metadata of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileStat {
    /// Kind of the file.
    pub kind: FileKind,
    /// Identity and version.
    pub stamp: FileStamp,
}

/// An opened regular file.
#[derive(Clone, Debug)]
pub struct HostFile {
    /// Content.
    pub content: Content,
    /// Stamp of the opened file, independent of its path.
    pub stamp: FileStamp,
}

impl HostFile {
    /// Returns the content of an opened file. `path` is for errors.
    ///
    /// # Errors
    /// If it is not a regular file, or cannot be read.
    pub fn of(path: &Path, file: &File) -> Result<Self, HostError> {
        let stamp = FileStamp::of(path, file)?;
        let content =
            Content::of_file(file, stamp.size).map_err(|source| io_error(path, source))?;
        Ok(Self { content, stamp })
    }
}

/// Owner of a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum FileOwner {
    /// The user that this process runs as.
    This,
    /// The superuser.
    Root,
    /// The user with that id.
    Other(u32),
}

impl FileOwner {
    /// Returns the owner by the metadata of a file.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        match metadata.uid() {
            id if id == geteuid().as_raw() => Self::This,
            0 => Self::Root,
            id => Self::Other(id),
        }
    }
}

/// A file that was read completely.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostText {
    /// Content.
    pub bytes: Vec<u8>,
    /// Owner of the opened file, independent of its path.
    pub owner: FileOwner,
}

impl HostText {
    /// Reads an opened file. `path` is for errors.
    ///
    /// # Errors
    /// If it cannot be read, or has more than [`READ_LIMIT`] bytes.
    pub fn of(path: &Path, file: File, owner: FileOwner) -> Result<Self, HostError> {
        let io = |source| io_error(path, source);
        let too_large = || HostError::TooLarge { path: path.to_owned(), limit: READ_LIMIT };
        let size = file.metadata().map_err(io)?.size();
        if size > READ_LIMIT {
            return Err(too_large());
        }
        // Files that the kernel synthesizes while they are read have a stated size of 0.
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        file.take(READ_LIMIT + 1).read_to_end(&mut bytes).map_err(io)?;
        if bytes.len() as u64 > READ_LIMIT {
            return Err(too_large());
        }
        Ok(Self { bytes, owner })
    }
}

/// Returns the identity of a file, with its modification time.
pub(crate) fn stamp_of(metadata: &Metadata) -> FileStamp {
    FileStamp {
        device: metadata.dev(),
        inode: metadata.ino(),
        size: metadata.size(),
        modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
        changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
    }
}

/// Minimum age of the last change of a file: another change soon after it could have the same time.
const NEAR: Duration = Duration::from_secs(2);

/// Returns true if a time of a file, in nanoseconds since 1970, is too recent to tell two versions of it apart.
#[must_use]
pub fn is_near(time: i128) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    time.saturating_add(NEAR.as_nanos() as i128) > now.as_nanos() as i128
}

fn nanoseconds(seconds: i64, rest: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(rest)
}

/// An entry of a folder.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct DirEntry {
    /// Name in the folder.
    pub name: OsString,
    /// Kind of the entry.
    pub kind: FileKind,
}
