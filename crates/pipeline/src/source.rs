//! Where a recording comes from.

use std::path::{Path, PathBuf};

use host::ByteStream;

/// Where a recording comes from.
pub enum Source {
    /// A file, a FIFO, or the folder of `perf record --threads`. What is in it is found out by its content.
    Path(PathBuf),
    /// Bytes that come one after the other, such as standard input or a socket, and what to call them in messages.
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
