//! Metadata of files.

use std::ffi::OsString;

use crate::Content;

/// Kind of a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
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
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FileStamp {
    /// Device (`st_dev`).
    pub device: u64,
    /// Inode number on it (`st_ino`).
    pub inode: u64,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change of its content, in nanoseconds since 1970.
    pub modified: i128,
}

/// Metadata of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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

/// Owner of a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FileOwner {
    /// The user that this process runs as.
    This,
    /// The superuser.
    Root,
    /// The user with that id.
    Other(u32),
}

/// A file that was read completely.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostText {
    /// Content.
    pub bytes: Vec<u8>,
    /// Owner of the opened file, independent of its path.
    pub owner: FileOwner,
}

/// An entry of a folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DirEntry {
    /// Name in the folder.
    pub name: OsString,
    /// Kind of the entry.
    pub kind: FileKind,
}
