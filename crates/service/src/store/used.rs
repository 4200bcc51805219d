//! The files that a result was made with, so that a change of one makes a new result.

use std::path::Path;

use host::{FileStamp, Origin};
use serde::{Deserialize, Serialize};

/// A file as it was when it was used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UsedFile {
    /// Its path.
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

    /// Whom to say that the path is from: what is relative to where the operator started the service was named by him.
    pub(crate) fn origin(path: &Path) -> Origin<'static> {
        if path.is_absolute() { Origin::Stored { root: Path::new("/") } } else { Origin::User }
    }

    /// Whether it is still that file.
    pub(crate) fn is(&self, stamp: &FileStamp) -> bool {
        *self == Self::new(&self.path, stamp, self.build_id.clone())
    }
}
