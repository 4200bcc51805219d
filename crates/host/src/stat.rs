//! What is known of files without reading them.

use std::ffi::OsString;

use crate::Content;

/// What kind of thing is at a path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FileKind {
    /// A regular file.
    Regular,
    /// A folder.
    Directory,
    /// A symbolic link; only in lists, since [`crate::Host::stat`] follows links.
    Link,
    /// A FIFO.
    Fifo,
    /// A device or socket.
    Special,
}

/// Which file it is, and as of when: two opened files of one stamp have the same content.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FileStamp {
    /// The device (`st_dev`).
    pub device: u64,
    /// The inode on it (`st_ino`).
    pub inode: u64,
    /// Bytes in it.
    pub size: u64,
    /// When its content was changed last, in nanoseconds since 1970.
    pub modified: i128,
}

/// What is at a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileStat {
    /// What kind of thing.
    pub kind: FileKind,
    /// Which one.
    pub stamp: FileStamp,
}

/// An opened regular file.
#[derive(Clone, Debug)]
pub struct HostFile {
    /// Its bytes.
    pub content: Content,
    /// Which file it is. Taken from the opened file, not from its path.
    pub stamp: FileStamp,
}

/// Who owns a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FileOwner {
    /// The user that this process runs as.
    This,
    /// The superuser.
    Root,
    /// The user of that id.
    Other(u32),
}

/// A file that was read as a whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostText {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whose file it is. Taken from the opened file, not from its path.
    pub owner: FileOwner,
}

/// An entry of a folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DirEntry {
    /// Its name in the folder.
    pub name: OsString,
    /// What it is.
    pub kind: FileKind,
}
