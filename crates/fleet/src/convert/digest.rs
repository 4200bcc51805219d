//! SHA-256 of a recording, which names its folder.
#![allow(clippy::disallowed_methods, reason = "the user named the recording")]

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use options::to_hex;
use rustix::fs::{Mode, OFlags};
use sha2::{Digest as _, Sha256};

/// Number of bytes that are read at a time.
const BLOCK: usize = 1 << 18;

/// Hash and size of a recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RecordingDigest {
    /// SHA-256 in hexadecimal.
    pub(super) sha256: String,
    /// Size in bytes.
    pub(super) bytes: u64,
}

impl RecordingDigest {
    /// Reads a recording; of a directory, the names and bytes of its files.
    ///
    /// # Errors
    /// If it is missing, inaccessible, or neither a file nor a directory of files. The message names the path.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let named = |path: &Path| {
            let path = path.display().to_string();
            move |error: io::Error| {
                io::Error::new(error.kind(), format!("cannot read {path}: {error}"))
            }
        };
        let state = fs::metadata(path).map_err(named(path))?;
        if !state.is_dir() {
            return Self::of_file(path).map_err(named(path));
        }
        let entries = fs::read_dir(path).map_err(named(path))?;
        let names: Result<Vec<_>, _> = entries.map(|it| it.map(|it| it.file_name())).collect();
        let mut names = names.map_err(named(path))?;
        names.sort();
        let (mut whole, mut bytes) = (Sha256::new(), 0);
        for name in names {
            let path = path.join(&name);
            let one = Self::of_file(&path).map_err(named(&path))?;
            whole.update(one.sha256.as_bytes());
            whole.update(b"  ");
            whole.update(name.as_bytes());
            whole.update(b"\n");
            bytes += one.bytes;
        }
        Ok(Self { sha256: to_hex(&whole.finalize()), bytes })
    }

    fn of_file(path: &Path) -> io::Result<Self> {
        // A blocking open of a FIFO would wait for a writer.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
        }
        let (mut digest, mut size, mut block) = (Sha256::new(), 0, vec![0; BLOCK]);
        loop {
            let read = match file.read(&mut block) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            digest.update(block.get(..read).unwrap_or_default());
            size += read as u64;
        }
        Ok(Self { sha256: to_hex(&digest.finalize()), bytes: size })
    }
}

/// Values that change with a file: device, inode, size in bytes, time of the last write in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FileState {
    device: u64,
    inode: u64,
    size: u64,
    written: (i64, i64),
}

impl FileState {
    /// Returns the state of a file; `None` if it is missing.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let state = fs::metadata(path).ok()?;
        Some(Self {
            device: state.dev(),
            inode: state.ino(),
            size: state.size(),
            written: (state.mtime(), state.mtime_nsec()),
        })
    }
}
