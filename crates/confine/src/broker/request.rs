//! Requests of a confined process to its broker, and their replies. Paths are sent as bytes.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use host::{DirEntry, Distrust, FileOwner, FileStat, HostError, Origin, RecordedFile};
use serde::{Deserialize, Serialize};

/// Request for a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HostRequest {
    pub(super) path: OsString,
    pub(super) origin: SentOrigin,
    pub(super) query: Query,
}

/// What is requested of a path.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Query {
    /// The opened file.
    File,
    Stat,
    RecordedFile,
    Owner,
    List,
    Distrust,
}

/// An [`Origin`] with its folder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum SentOrigin {
    User,
    Recording(OsString),
    Stored(OsString),
    System,
    Process,
}

impl HostRequest {
    pub(super) fn new(path: &Path, origin: Origin<'_>, query: Query) -> Self {
        let folder = |root: &Path| root.as_os_str().to_owned();
        let origin = match origin {
            Origin::User => SentOrigin::User,
            Origin::Recording { root } => SentOrigin::Recording(folder(root)),
            Origin::Stored { root } => SentOrigin::Stored(folder(root)),
            Origin::System => SentOrigin::System,
            Origin::Process => SentOrigin::Process,
        };
        Self { path: path.as_os_str().to_owned(), origin, query }
    }

    pub(super) fn origin(&self) -> Origin<'_> {
        match &self.origin {
            SentOrigin::User => Origin::User,
            SentOrigin::Recording(root) => Origin::Recording { root: Path::new(root) },
            SentOrigin::Stored(root) => Origin::Stored { root: Path::new(root) },
            SentOrigin::System => Origin::System,
            SentOrigin::Process => Origin::Process,
        }
    }
}

/// Reply to a request. The descriptor of an opened file comes with it.
#[derive(Debug, Serialize, Deserialize)]
pub struct HostReply(pub(super) Answer);

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// The file was opened; its descriptor is attached.
    File(FileOwner),
    /// Metadata.
    Stat(FileStat),
    /// Identity as a map record states it.
    RecordedFile(RecordedFile),
    /// Owner.
    Owner(FileOwner),
    /// Entries of the folder.
    Entries(Vec<DirEntry>),
    /// Reason not to trust the folder.
    Distrust(Option<SentDistrust>),
    /// The request failed.
    Failed(Failure),
}

/// A [`Distrust`].
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum SentDistrust {
    Owner(OsString, u32),
    Writable(OsString, u32),
    Link(OsString, u32),
}

impl From<Distrust> for SentDistrust {
    fn from(distrust: Distrust) -> Self {
        match distrust {
            Distrust::Owner { path, user } => Self::Owner(path.into(), user),
            Distrust::Writable { path, mode } => Self::Writable(path.into(), mode),
            Distrust::Link { path, user } => Self::Link(path.into(), user),
        }
    }
}

impl From<SentDistrust> for Distrust {
    fn from(sent: SentDistrust) -> Self {
        match sent {
            SentDistrust::Owner(path, user) => Self::Owner { path: path.into(), user },
            SentDistrust::Writable(path, mode) => Self::Writable { path: path.into(), mode },
            SentDistrust::Link(path, user) => Self::Link { path: path.into(), user },
        }
    }
}

/// A [`HostError`] without its path.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Failure {
    /// Number of the system's error.
    Io(i32),
    NotRegular,
    TooLarge(u64),
    Refused,
}

impl Failure {
    pub(super) fn of(error: &HostError) -> Self {
        match error {
            HostError::Io { source, .. } => {
                let code = match source.kind() {
                    io::ErrorKind::NotFound => libc::ENOENT,
                    io::ErrorKind::PermissionDenied => libc::EACCES,
                    _ => libc::EIO,
                };
                Self::Io(source.raw_os_error().unwrap_or(code))
            }
            HostError::NotRegular { .. } => Self::NotRegular,
            HostError::TooLarge { limit, .. } => Self::TooLarge(*limit),
            _ => Self::Refused,
        }
    }

    pub(super) fn error(&self, path: &Path) -> HostError {
        let path = PathBuf::from(path);
        match *self {
            Self::Io(code) => HostError::Io { path, source: io::Error::from_raw_os_error(code) },
            Self::NotRegular => HostError::NotRegular { path },
            Self::TooLarge(limit) => HostError::TooLarge { path, limit },
            Self::Refused => HostError::Refused { path },
        }
    }
}
