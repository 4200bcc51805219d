//! Identity of a recording: its root, and its name below the root.

use std::fmt::Write as _;
use std::fs::Metadata;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::protocol::{RecordingRef, RunOptions};

/// Id of a recording in addresses: 16 hexadecimal digits, derived from its root and name alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct RecordingId(String);

impl RecordingId {
    pub(crate) fn new(root: &str, name: &str) -> Self {
        let mut digest = hex(&Sha256::digest([root, "\0", name].concat()));
        digest.truncate(16);
        Self(digest)
    }

    /// Wraps an id received from a client.
    pub(crate) fn from_text(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Identity and state of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    pub(crate) size: u64,
    /// Modification time in nanoseconds since 1970.
    pub(crate) modified: i128,
    /// Time of the last status change in nanoseconds since 1970; programs cannot set it.
    changed: i128,
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let time = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: time(metadata.mtime(), metadata.mtime_nsec()),
            changed: time(metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// Recording in its current state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recording {
    pub(crate) id: RecordingId,
    /// Name below its root.
    pub(crate) name: String,
    /// Path, for messages of the worker and for opening folders of `perf record --threads`.
    pub(crate) path: String,
    pub(crate) stamp: Stamp,
    pub(crate) is_folder: bool,
    /// True if the recording is untrusted.
    pub(crate) foreign: bool,
}

/// Recording with its descriptor.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) recording: Recording,
    pub(crate) file: OwnedFd,
}

impl Recording {
    /// Returns the key of the content, the options of a run, and this program's version.
    pub(crate) fn key(&self, options: &RunOptions) -> String {
        let text = format!(
            "{} {:?} {:?} {options:?} {}",
            self.path,
            self.stamp,
            self.foreign,
            env!("CARGO_PKG_VERSION"),
        );
        let mut key = hex(&Sha256::digest(text));
        key.truncate(32);
        key
    }

    /// Returns the modification time of its file, in milliseconds since 1970; `None` for a folder.
    pub(crate) fn written(&self) -> Option<i64> {
        if self.is_folder {
            return None;
        }
        i64::try_from(self.stamp.modified / 1_000_000).ok()
    }
}

impl Opened {
    /// Returns the worker's description of the recording.
    pub(crate) fn recording_ref(&self, options: &RunOptions) -> RecordingRef {
        RecordingRef {
            path: self.recording.path.clone(),
            name: self.recording.name.clone(),
            key: self.recording.key(options),
            is_folder: self.recording.is_folder,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_depends_on_the_place_alone() {
        let id = RecordingId::new("/srv", "a.data");
        assert_eq!(id.as_str().len(), 16);
        assert_eq!(id, RecordingId::new("/srv", "a.data"));
        assert_ne!(id, RecordingId::new("/srv/", "a.data"));
        assert_eq!(hex(&[0, 0xab]), "00ab");
    }
}
