//! Requested path and the host's answer.

use std::io;
use std::path::Path;

use host::{DirEntry, FileKind, FileOwner, HostError, RecordedFile};
use serde::{Deserialize, Serialize};

use super::Bytes;

/// Path, the folder that its resolution must not leave, and the answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct RequestedPath {
    pub(crate) path: Bytes,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) root: Option<Bytes>,
    #[serde(flatten)]
    pub(crate) found: PathAnswer,
    /// Entries, if the path is a folder that was listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) entries: Option<Vec<FolderEntry>>,
    /// Identity of a regular file as map records state it, if it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) recorded: Option<RecordedIdentity>,
}

/// Identity of a file as map records state it; see [`RecordedFile`].
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct RecordedIdentity {
    major: u32,
    minor: u32,
    inode: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    generation: Option<u64>,
    unique: bool,
    modified: i64,
    changed: i64,
}

impl From<RecordedFile> for RecordedIdentity {
    fn from(file: RecordedFile) -> Self {
        let RecordedFile { major, minor, inode, generation, is_unique, modified, changed } = file;
        let time = |at| i64::try_from(at).unwrap_or(i64::MAX);
        let (modified, changed) = (time(modified), time(changed));
        Self { major, minor, inode, generation, unique: is_unique, modified, changed }
    }
}

impl From<RecordedIdentity> for RecordedFile {
    fn from(it: RecordedIdentity) -> Self {
        let RecordedIdentity { major, minor, inode, generation, unique, modified, changed } = it;
        let (modified, changed) = (modified.into(), changed.into());
        Self { major, minor, inode, generation, is_unique: unique, modified, changed }
    }
}

/// Answer for a path.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub(crate) enum PathAnswer {
    /// Regular file.
    File {
        /// Number of its file system, in order of the places; 0 if it was not requested.
        device: u64,
        /// Inode number, which recordings contain, too.
        inode: u64,
        /// Size in bytes.
        size: u64,
        /// Modification time, in nanoseconds since 1970.
        modified: i64,
        /// Owner, if requested.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner: Option<Owner>,
        /// Index of its content; `None` if it was not requested.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<usize>,
    },
    /// Something other than a regular file.
    Other {
        /// Its kind.
        kind: EntryKind,
    },
    /// The path is missing or unusable.
    Failed {
        /// Reason.
        why: Failure,
    },
}

/// Reason for a missing answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Failure {
    /// The path does not exist.
    Missing,
    /// The file is not regular.
    NotRegular,
    /// The file is larger than this limit, in bytes.
    TooLarge(u64),
    /// The origin of the request is not allowed to open it.
    Refused,
    /// Error number of the system.
    System(i32),
    /// Other error, as text.
    Other(String),
}

/// Kind of a file-system object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum EntryKind {
    File,
    Folder,
    Link,
    Fifo,
    Special,
}

/// Owner of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Owner {
    /// User who made the bundle.
    This,
    Root,
    Other(u32),
}

/// Entry of a folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct FolderEntry {
    pub(crate) name: Bytes,
    pub(crate) kind: EntryKind,
}

impl RequestedPath {
    /// Returns the index of its content.
    pub(crate) const fn content(&self) -> Option<usize> {
        match self.found {
            PathAnswer::File { content, .. } => content,
            PathAnswer::Other { .. } | PathAnswer::Failed { .. } => None,
        }
    }
}

impl From<&HostError> for Failure {
    fn from(error: &HostError) -> Self {
        match error {
            _ if error.is_missing() => Self::Missing,
            HostError::NotRegular { .. } => Self::NotRegular,
            HostError::TooLarge { limit, .. } => Self::TooLarge(*limit),
            HostError::Refused { .. } => Self::Refused,
            HostError::Io { source, .. } => match source.raw_os_error() {
                Some(code) => Self::System(code),
                None => Self::Other(source.to_string()),
            },
            other => Self::Other(other.to_string()),
        }
    }
}

impl Failure {
    /// Returns the error for a path.
    pub(crate) fn error(&self, path: &Path) -> HostError {
        let path = path.to_owned();
        let io = |source| HostError::Io { path: path.clone(), source };
        match self {
            Self::Missing => HostError::missing(&path),
            Self::NotRegular => HostError::NotRegular { path },
            Self::TooLarge(limit) => HostError::TooLarge { path, limit: *limit },
            Self::Refused => HostError::Refused { path },
            Self::System(code) => io(io::Error::from_raw_os_error(*code)),
            Self::Other(what) => io(io::Error::other(what.clone())),
        }
    }
}

impl From<FileKind> for EntryKind {
    fn from(kind: FileKind) -> Self {
        match kind {
            FileKind::Regular => Self::File,
            FileKind::Directory => Self::Folder,
            FileKind::Link => Self::Link,
            FileKind::Fifo => Self::Fifo,
            FileKind::Special => Self::Special,
        }
    }
}

impl From<EntryKind> for FileKind {
    fn from(kind: EntryKind) -> Self {
        match kind {
            EntryKind::File => Self::Regular,
            EntryKind::Folder => Self::Directory,
            EntryKind::Link => Self::Link,
            EntryKind::Fifo => Self::Fifo,
            EntryKind::Special => Self::Special,
        }
    }
}

impl From<FileOwner> for Owner {
    fn from(owner: FileOwner) -> Self {
        match owner {
            FileOwner::This => Self::This,
            FileOwner::Root => Self::Root,
            FileOwner::Other(id) => Self::Other(id),
        }
    }
}

impl From<Owner> for FileOwner {
    fn from(owner: Owner) -> Self {
        match owner {
            Owner::This => Self::This,
            Owner::Root => Self::Root,
            Owner::Other(id) => Self::Other(id),
        }
    }
}

impl From<&DirEntry> for FolderEntry {
    fn from(entry: &DirEntry) -> Self {
        Self { name: Bytes::of_os(&entry.name), kind: entry.kind.into() }
    }
}

impl From<&FolderEntry> for DirEntry {
    fn from(entry: &FolderEntry) -> Self {
        Self { name: entry.name.to_os_string(), kind: entry.kind.into() }
    }
}
