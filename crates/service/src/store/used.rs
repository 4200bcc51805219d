//! The files that a result was made with, so that a change of one makes a new result.

use host::FileStamp;
use serde::{Deserialize, Serialize};

/// A file as it was when it was used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UsedFile {
    /// Its path, from the root on.
    pub(crate) path: String,
    device: u64,
    inode: u64,
    size: u64,
    /// Nanoseconds since 1970, as text: JSON's numbers are too small.
    modified: String,
    /// The build-id that it was found by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) build_id: Option<String>,
}

impl UsedFile {
    pub(crate) fn new(path: &str, stamp: &FileStamp, build_id: Option<String>) -> Self {
        Self {
            path: path.to_owned(),
            build_id,
            device: stamp.device,
            inode: stamp.inode,
            size: stamp.size,
            modified: stamp.modified.to_string(),
        }
    }

    /// Whether it is still that file.
    pub(crate) fn is(&self, stamp: &FileStamp) -> bool {
        *self == Self::new(&self.path, stamp, self.build_id.clone())
    }
}
