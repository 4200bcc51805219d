//! Host that records the answers of another host.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use host::{
    ByteStream, DirEntry, Distrust, FileStat, Host, HostError, HostFile, HostFinding, HostText,
    Origin, Reads, RecordedFile,
};

use super::answers::JournalAnswers;
use crate::manifest::Failure;

/// Forwards to another host, and records each request with its answer.
#[derive(Debug)]
pub struct JournalHost {
    inner: Arc<dyn Host>,
    /// Path of the recording, which is stored completely.
    recording: PathBuf,
    notes: Mutex<JournalNotes>,
}

/// Path, and the folder that its resolution must not leave.
pub(super) type RequestKey = (PathBuf, Option<PathBuf>);

/// Recorded requests and answers.
#[derive(Debug, Default)]
pub(super) struct JournalNotes {
    pub(super) paths: BTreeMap<RequestKey, PathNotes>,
    pub(super) variables: BTreeMap<String, Option<OsString>>,
    pub(super) vdso: Option<Vec<u8>>,
}

/// Recorded answers for a path.
#[derive(Debug, Default)]
pub(super) struct PathNotes {
    pub(super) stat: Option<FileStat>,
    /// Openings of the path; for large files, with the ranges that were read.
    pub(super) opened: Vec<(HostFile, Option<Reads>)>,
    pub(super) text: Option<HostText>,
    pub(super) recorded: Option<RecordedFile>,
    pub(super) entries: Option<Vec<DirEntry>>,
    pub(super) failure: Option<Failure>,
}

impl JournalHost {
    /// Wraps a host. `recording` is the user's path of the recording: a file, or the folder that contains it.
    #[must_use]
    pub fn new(inner: Arc<dyn Host>, recording: &Path) -> Arc<Self> {
        Arc::new(Self { inner, recording: recording.to_owned(), notes: Mutex::default() })
    }

    /// Returns the recorded answers; call it when all requests are done. Stops the tracking of reads; later requests
    /// are recorded from scratch.
    ///
    /// # Errors
    /// If the files cannot be read any more.
    pub fn finish(&self) -> io::Result<JournalAnswers> {
        JournalAnswers::new(std::mem::take(&mut *self.notes()), &self.recording)
    }

    fn notes(&self) -> MutexGuard<'_, JournalNotes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records an answer.
    fn note<T>(
        &self,
        path: &Path,
        origin: Origin<'_>,
        answer: Result<T, HostError>,
        note: impl FnOnce(&mut PathNotes, &T),
    ) -> Result<T, HostError> {
        let mut notes = self.notes();
        let asked = (path.to_owned(), origin.root().map(Path::to_owned));
        let place = notes.paths.entry(asked).or_default();
        match &answer {
            Ok(value) => note(place, value),
            Err(error) => place.failure = Some(error.into()),
        }
        answer
    }

    fn is_recording(&self, path: &Path) -> bool {
        path.starts_with(&self.recording)
    }
}

impl Host for JournalHost {
    fn open(&self, path: &Path, origin: Origin<'_>) -> Result<HostFile, HostError> {
        let opened = self.inner.open(path, origin).and_then(|file| {
            let whole = self.is_recording(path);
            let reads = if whole { Ok(None) } else { file.content.watched() };
            let reads = reads.map_err(|source| HostError::Io { path: path.to_owned(), source })?;
            Ok((file, reads))
        });
        let opened = self.note(path, origin, opened, |place, (file, reads)| {
            place.opened.push((file.clone(), reads.clone()));
        });
        opened.map(|(file, _)| file)
    }

    fn descriptor(&self, path: &Path, origin: Origin<'_>) -> Result<File, HostError> {
        self.inner.descriptor(path, origin)
    }

    fn text(&self, path: &Path, origin: Origin<'_>) -> Result<HostText, HostError> {
        let text = self.inner.text(path, origin);
        self.note(path, origin, text, |place, text| place.text = Some(text.clone()))
    }

    fn stream(&self, path: &Path, origin: Origin<'_>) -> Result<ByteStream, HostError> {
        self.inner.stream(path, origin)
    }

    fn stat(&self, path: &Path, origin: Origin<'_>) -> Result<FileStat, HostError> {
        let stat = self.inner.stat(path, origin);
        self.note(path, origin, stat, |place, stat| place.stat = Some(*stat))
    }

    fn recorded_file(&self, path: &Path, origin: Origin<'_>) -> Result<RecordedFile, HostError> {
        let recorded = self.inner.recorded_file(path, origin);
        self.note(path, origin, recorded, |place, recorded| place.recorded = Some(*recorded))
    }

    fn list(&self, path: &Path, origin: Origin<'_>) -> Result<Vec<DirEntry>, HostError> {
        let entries = self.inner.list(path, origin);
        self.note(path, origin, entries, |place, entries| place.entries = Some(entries.clone()))
    }

    fn running_vdso(&self) -> Option<Vec<u8>> {
        let vdso = self.inner.running_vdso();
        self.notes().vdso.clone_from(&vdso);
        vdso
    }

    fn clock(&self, id: i32) -> Option<u64> {
        self.inner.clock(id)
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        let value = self.inner.variable(name);
        self.notes().variables.insert(name.to_owned(), value.clone());
        value
    }

    fn file_store(&self) -> Option<PathBuf> {
        // The variables that a replay needs are recorded.
        self.cache_home()?;
        self.inner.file_store()
    }

    fn distrust(&self, folder: &Path) -> Option<Distrust> {
        self.inner.distrust(folder)
    }

    fn findings(&self) -> Vec<HostFinding> {
        self.inner.findings()
    }
}
