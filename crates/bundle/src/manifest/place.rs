//! A path that the machine was asked for, and what it answered.

use std::io;
use std::path::Path;

use host::{DirEntry, FileKind, FileOwner, HostError, RecordedFile};
use serde::{Deserialize, Serialize};

use super::Bytes;

/// A path, the folder that it was not to leave, and what is there.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) path: Bytes,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) root: Option<Bytes>,
    #[serde(flatten)]
    pub(crate) found: Found,
    /// What is in it, where it is a folder that was listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) entries: Option<Vec<Entry>>,
    /// The identity of a regular file as map records state it, if it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) recorded: Option<Identity>,
}

/// The identity of a file as map records state it; see [`RecordedFile`].
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Identity {
    major: u32,
    minor: u32,
    inode: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    generation: Option<u64>,
    unique: bool,
    modified: i64,
    changed: i64,
}

impl From<RecordedFile> for Identity {
    fn from(file: RecordedFile) -> Self {
        let RecordedFile { major, minor, inode, generation, is_unique, modified, changed } = file;
        let time = |at| i64::try_from(at).unwrap_or(i64::MAX);
        let (modified, changed) = (time(modified), time(changed));
        Self { major, minor, inode, generation, unique: is_unique, modified, changed }
    }
}

impl From<Identity> for RecordedFile {
    fn from(it: Identity) -> Self {
        let Identity { major, minor, inode, generation, unique, modified, changed } = it;
        let (modified, changed) = (modified.into(), changed.into());
        Self { major, minor, inode, generation, is_unique: unique, modified, changed }
    }
}

/// What is at a path.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub(crate) enum Found {
    /// A regular file.
    File {
        /// The file system that it is on, numbered in the order of the places; 0 where nobody asked.
        device: u64,
        /// The inode there, which recordings have, too.
        inode: u64,
        /// Bytes in it.
        size: u64,
        /// When it was changed, in nanoseconds since 1970.
        modified: i64,
        /// Whose it is, where somebody asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner: Option<Owner>,
        /// Where its bytes are; nobody asked for them where that is missing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<usize>,
    },
    /// Something else that is there.
    Other {
        /// What.
        kind: Kind,
    },
    /// There is nothing, or it cannot be used.
    Failed {
        /// Why.
        why: Failure,
    },
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Failure {
    /// Nothing is there.
    Missing,
    /// No regular file.
    NotRegular,
    /// More than so many bytes.
    TooLarge(u64),
    /// Refused for its origin.
    Refused,
    /// The number of an error of the system.
    System(i32),
    /// Another error, in words.
    Other(String),
}

/// What kind of thing is at a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    Fifo,
    Special,
}

/// Who owns a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Owner {
    /// The user who made the bundle.
    This,
    Root,
    Other(u32),
}

/// An entry of a folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) name: Bytes,
    pub(crate) kind: Kind,
}

impl Place {
    /// The content that it needs.
    pub(crate) const fn content(&self) -> Option<usize> {
        match self.found {
            Found::File { content, .. } => content,
            Found::Other { .. } | Found::Failed { .. } => None,
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
    /// The error of a path.
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

impl From<FileKind> for Kind {
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

impl From<Kind> for FileKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::File => Self::Regular,
            Kind::Folder => Self::Directory,
            Kind::Link => Self::Link,
            Kind::Fifo => Self::Fifo,
            Kind::Special => Self::Special,
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

impl From<&DirEntry> for Entry {
    fn from(entry: &DirEntry) -> Self {
        Self { name: Bytes::of_os(&entry.name), kind: entry.kind.into() }
    }
}

impl From<&Entry> for DirEntry {
    fn from(entry: &Entry) -> Self {
        Self { name: entry.name.to_os_string(), kind: entry.kind.into() }
    }
}
