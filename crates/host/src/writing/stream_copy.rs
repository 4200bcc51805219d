//! A copy of a stream's read bytes in a file. Any holder can complete it: at a signal, the bytes so far are stored.

use std::fs::File;
use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use crate::writing::new_file::NewFile;

/// A growing copy of a stream. It is removed unless it is completed.
#[derive(Clone, Debug)]
pub struct StreamCopy(Arc<Mutex<CopyState>>);

#[derive(Debug)]
enum CopyState {
    Open(NewFile),
    /// Another process names it.
    Inherited(File),
    /// Nothing more is written.
    Completed,
    /// It could not be written; reading continues.
    Failed(io::Error),
}

impl StreamCopy {
    pub(crate) fn new(file: NewFile) -> Self {
        Self(Arc::new(Mutex::new(CopyState::Open(file))))
    }

    pub(crate) fn inherited(file: File) -> Self {
        Self(Arc::new(Mutex::new(CopyState::Inherited(file))))
    }

    /// Adds read bytes.
    pub(crate) fn add(&self, bytes: &[u8]) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let written = match &mut *state {
            CopyState::Open(file) => file.write_all(bytes),
            CopyState::Inherited(file) => file.write_all(bytes),
            CopyState::Completed | CopyState::Failed(_) => Ok(()),
        };
        if let Err(error) = written {
            *state = CopyState::Failed(error);
        }
    }

    /// Gives the file its name, with the bytes read so far. Nothing is added afterwards; a second call does nothing.
    ///
    /// # Errors
    /// If it could not be written or renamed; it is then removed.
    pub fn complete(&self) -> io::Result<()> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *state, CopyState::Completed) {
            CopyState::Open(file) => file.complete(),
            CopyState::Inherited(_) | CopyState::Completed => Ok(()),
            CopyState::Failed(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests read the files that were made")]

    use std::io::Read as _;

    use super::*;
    use crate::{ByteStream, ScratchDir};

    #[test]
    fn what_was_read_is_kept() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let place = dir.path().join("keep.perf");
        let file = NewFile::create(&place).expect("a new file");
        let (mut stream, copy) = ByteStream::of_reader(&b"0123456789"[..]).copied_to(file);
        let mut read = Vec::new();
        assert_eq!(stream.read_up_to(4, &mut read).expect("read"), 4);
        assert_eq!(stream.read(&mut [0; 2]).expect("read"), 2);
        assert!(!place.exists());
        let mut rest = stream.into_reader();
        assert_eq!(rest.read(&mut [0]).expect("read"), 1);
        copy.complete().expect("completed");
        assert_eq!(std::fs::read(&place).expect("a file"), b"0123456");
        rest.read_to_end(&mut read).expect("read");
        copy.complete().expect("completed before");
        assert_eq!(
            (&read[..], std::fs::read(&place).expect("a file")),
            (&b"0123789"[..], b"0123456".to_vec())
        );
    }

    #[test]
    fn a_file_of_another_process_gets_the_same() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let place = dir.path().join("keep.perf");
        let file = std::fs::File::create(&place).expect("a file");
        let (stream, copy) = ByteStream::of_reader(&b"0123456789"[..]).copied_into(file);
        let mut read = Vec::new();
        stream.into_reader().read_to_end(&mut read).expect("read");
        copy.complete().expect("written");
        assert_eq!(std::fs::read(&place).expect("a file"), read);
    }

    #[test]
    fn a_copy_that_nobody_completes_is_removed() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let file = NewFile::create(&dir.path().join("keep.perf")).expect("a new file");
        let (mut stream, copy) = ByteStream::of_reader(&b"0123456789"[..]).copied_to(file);
        assert_eq!(stream.read_up_to(99, &mut Vec::new()).expect("read"), 10);
        drop((stream, copy));
        assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn the_reading_goes_on_where_the_disk_is_full() {
        let full =
            StreamCopy(Arc::new(Mutex::new(CopyState::Failed(io::ErrorKind::StorageFull.into()))));
        full.add(b"more");
        assert_eq!(full.complete().expect_err("full").kind(), io::ErrorKind::StorageFull);
    }
}
