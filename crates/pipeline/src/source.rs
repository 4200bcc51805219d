//! The source of a recording.

use std::path::{Path, PathBuf};

use host::ByteStream;

/// The source of a recording.
pub enum Source {
    /// A file, a FIFO, or the folder of `perf record --threads`. The format is detected from the content.
    Path(PathBuf),
    /// A byte stream such as standard input or a socket, and its name in messages.
    Stream {
        /// The name in messages.
        name: PathBuf,
        /// The bytes.
        bytes: ByteStream,
    },
}

impl Source {
    /// The path, or the name of the stream.
    #[must_use]
    pub fn name(&self) -> &Path {
        match self {
            Self::Path(path) => path,
            Self::Stream { name, .. } => name,
        }
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Source").field(&self.name()).finish()
    }
}
