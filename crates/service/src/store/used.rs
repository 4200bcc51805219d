//! Files that a result depends on; if one changes, the result is produced again.

use host::FileStamp;
use serde::{Deserialize, Serialize};

/// State of a file when it was used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UsedFile {
    /// Absolute path.
    pub(crate) path: String,
    device: u64,
    inode: u64,
    size: u64,
    /// Modification time in nanoseconds since 1970, as text, since it exceeds the exact integers of JSON.
    modified: String,
    /// Build-id that identified the file.
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

    /// Returns true if the file is unchanged.
    pub(crate) fn is(&self, stamp: &FileStamp) -> bool {
        *self == Self::new(&self.path, stamp, self.build_id.clone())
    }
}
