//! A host with one file that another process opened: the file at its path is irrelevant.
//! A process without the permission to open files can thus read it.
#![allow(
    clippy::disallowed_methods,
    reason = "the file was opened by another process; it is looked at here"
)]

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::io_error;
use crate::stat::stamp_of;
use crate::{
    ByteStream, DirEntry, Distrust, FileKind, FileStat, Host, HostError, HostFile, HostFinding,
    HostText, Origin, RecordedFile,
};

/// Wraps another host; one path stands for a file that is already open.
#[derive(Clone, Debug)]
pub struct OpenedFileHost {
    inner: Arc<dyn Host>,
    path: PathBuf,
    file: Arc<File>,
}

impl OpenedFileHost {
    /// Wraps a host. `path` is the user's name of the file.
    ///
    /// # Errors
    /// If it is not a regular file.
    pub fn new(inner: Arc<dyn Host>, path: &Path, file: File) -> Result<Self, HostError> {
        let metadata = file.metadata().map_err(|source| io_error(path, source))?;
        if !metadata.is_file() {
            return Err(HostError::NotRegular { path: path.to_owned() });
        }
        Ok(Self { inner, path: path.to_owned(), file: Arc::new(file) })
    }

    /// Only the user's path means the open file: the same path in a recording means another one.
    fn is_opened_file(&self, path: &Path, origin: Origin<'_>) -> bool {
        origin == Origin::User && path == self.path
    }

    fn io(&self, source: io::Error) -> HostError {
        io_error(&self.path, source)
    }
}

impl Host for OpenedFileHost {
    fn open(&self, path: &Path, origin: Origin<'_>) -> Result<HostFile, HostError> {
        if !self.is_opened_file(path, origin) {
            return self.inner.open(path, origin);
        }
        HostFile::of(path, &self.file)
    }

    fn descriptor(&self, path: &Path, origin: Origin<'_>) -> Result<File, HostError> {
        if self.is_opened_file(path, origin) {
            return self.file.try_clone().map_err(|source| self.io(source));
        }
        self.inner.descriptor(path, origin)
    }

    fn text(&self, path: &Path, origin: Origin<'_>) -> Result<HostText, HostError> {
        self.inner.text(path, origin)
    }

    fn stream(&self, path: &Path, origin: Origin<'_>) -> Result<ByteStream, HostError> {
        self.inner.stream(path, origin)
    }

    fn stat(&self, path: &Path, origin: Origin<'_>) -> Result<FileStat, HostError> {
        if !self.is_opened_file(path, origin) {
            return self.inner.stat(path, origin);
        }
        let metadata = self.file.metadata().map_err(|source| self.io(source))?;
        Ok(FileStat { kind: FileKind::Regular, stamp: stamp_of(&metadata) })
    }

    fn recorded_file(&self, path: &Path, origin: Origin<'_>) -> Result<RecordedFile, HostError> {
        if !self.is_opened_file(path, origin) {
            return self.inner.recorded_file(path, origin);
        }
        RecordedFile::of(&self.file).map_err(|source| self.io(source))
    }

    fn list(&self, path: &Path, origin: Origin<'_>) -> Result<Vec<DirEntry>, HostError> {
        self.inner.list(path, origin)
    }

    fn running_vdso(&self) -> Option<Vec<u8>> {
        self.inner.running_vdso()
    }

    fn clock(&self, id: i32) -> Option<u64> {
        self.inner.clock(id)
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        self.inner.variable(name)
    }

    fn file_store(&self) -> Option<PathBuf> {
        self.inner.file_store()
    }

    fn distrust(&self, folder: &Path) -> Option<Distrust> {
        self.inner.distrust(folder)
    }

    fn findings(&self) -> Vec<HostFinding> {
        self.inner.findings()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryHost, ScratchDir};

    #[test]
    fn the_opened_file_is_read_whatever_is_at_its_path() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let path = dir.path().join("recording");
        std::fs::write(&path, b"first").expect("a file");
        let file = File::open(&path).expect("the file");
        std::fs::remove_file(&path).expect("removed");
        let inner = MemoryHost::new();
        inner.insert(&path, *b"other");
        let host = OpenedFileHost::new(Arc::new(inner), &path, file).expect("a regular file");
        for _ in 0..2 {
            let opened = host.open(&path, Origin::User).expect("the file");
            assert_eq!((&opened.content[..], opened.stamp.size), (&b"first"[..], 5));
        }
        let named = host.open(&path, Origin::Recording { root: dir.path() }).expect("the other");
        assert_eq!(&named.content[..], b"other");
        let folder = File::open(dir.path()).expect("the folder");
        let refused = OpenedFileHost::new(Arc::new(MemoryHost::new()), dir.path(), folder);
        assert!(matches!(refused, Err(HostError::NotRegular { .. })));
    }
}
