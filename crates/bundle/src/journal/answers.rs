//! Recorded answers in canonical form: places, and the contents that they share.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use hashbrown::HashMap;
use host::{Content, DirEntry, FileKind, FileStamp, HostFile, RecordedFile};

use super::host::{JournalNotes, PathNotes};
use crate::manifest::{AbsentFile, Failure, Manifest, Owner};

/// Requests of a run to the host, with the answers.
#[derive(Debug)]
pub struct JournalAnswers {
    pub(crate) paths: Vec<JournalPath>,
    pub(crate) contents: Vec<JournalContent>,
    pub(crate) variables: BTreeMap<String, Option<OsString>>,
    /// Index of the content that is the vdso.
    pub(crate) vdso: Option<usize>,
}

/// Requested path.
#[derive(Debug)]
pub(crate) struct JournalPath {
    pub(crate) path: PathBuf,
    pub(crate) root: Option<PathBuf>,
    pub(crate) found: JournalAnswer,
    pub(crate) entries: Option<Vec<DirEntry>>,
    /// Its identity as map records state it, if it was requested.
    pub(crate) recorded: Option<RecordedFile>,
}

/// Answer for a path.
#[derive(Debug)]
pub(crate) enum JournalAnswer {
    File { stamp: FileStamp, owner: Option<Owner>, content: Option<usize> },
    Other(FileKind),
    Failed(Failure),
}

/// Content of a file.
#[derive(Debug)]
pub(crate) struct JournalContent {
    pub(crate) bytes: Content,
    /// One of its paths.
    pub(crate) path: PathBuf,
    /// Ranges that were read; `None` to store the complete file.
    pub(crate) reads: Option<Vec<Range<u64>>>,
    /// Ranges without known bytes, sorted: holes of the bundle that the file is from.
    pub(crate) unknown: Vec<(u64, u64)>,
}

/// Contents by file stamp.
#[derive(Default)]
struct Contents {
    list: Vec<JournalContent>,
    by_stamp: HashMap<FileStamp, usize>,
}

impl JournalAnswers {
    pub(super) fn new(notes: JournalNotes, recording: &Path) -> io::Result<Self> {
        let mut contents = Contents::default();
        for ((path, _), place) in &notes.paths {
            for (file, reads) in &place.opened {
                file.content.stop_watching()?;
                let whole = reads.is_none() || path.starts_with(recording);
                let reads = reads.as_ref().filter(|_| !whole).map(host::Reads::ranges);
                contents.add(path, file, reads);
            }
        }
        let paths = notes.paths.into_iter();
        let paths = paths.map(|((path, root), notes)| contents.place(path, root, notes)).collect();
        let vdso = notes.vdso.map(|bytes| contents.push(Path::new("[vdso]"), bytes.into()));
        Ok(Self { paths, contents: contents.list, variables: notes.variables, vdso })
    }

    /// Returns the total size of the files, before holes are removed.
    #[must_use]
    pub fn whole_bytes(&self) -> u64 {
        self.contents.iter().map(|content| content.bytes.len() as u64).sum()
    }

    /// Marks the holes of files from a bundle, which stay holes.
    pub fn add_holes(&mut self, bundle: &Manifest) {
        for content in &mut self.contents {
            content.unknown = bundle.holes_of(&content.path);
        }
    }

    /// Returns the whole file of an absent entry.
    #[must_use]
    pub fn file(&self, wanted: &AbsentFile<'_>) -> Option<Content> {
        let found = self.contents.iter().find(|content| wanted.is_of(&content.bytes));
        found.map(|content| content.bytes.clone())
    }
}

impl Contents {
    fn push(&mut self, path: &Path, bytes: Content) -> usize {
        let path = path.to_owned();
        self.list.push(JournalContent { bytes, path, reads: None, unknown: Vec::new() });
        self.list.len() - 1
    }

    /// Adds an opened file, or the ranges read by a further opening.
    fn add(&mut self, path: &Path, file: &HostFile, reads: Option<Vec<Range<u64>>>) {
        let earlier = self.by_stamp.get(&file.stamp).and_then(|&at| self.list.get_mut(at));
        match earlier {
            Some(earlier) => {
                earlier.reads = match (earlier.reads.take(), reads) {
                    (Some(earlier), Some(more)) => Some(earlier.into_iter().chain(more).collect()),
                    _ => None,
                };
            }
            None => {
                let (bytes, path) = (file.content.clone(), path.to_owned());
                self.list.push(JournalContent { bytes, path, reads, unknown: Vec::new() });
                self.by_stamp.insert(file.stamp, self.list.len() - 1);
            }
        }
    }

    /// Returns the answer for a place. An answer with bytes takes precedence over a failure, since files can arrive
    /// from servers during a run.
    fn place(&mut self, path: PathBuf, root: Option<PathBuf>, notes: PathNotes) -> JournalPath {
        let PathNotes { stat, opened, text, recorded, entries, failure } = notes;
        let stamp = opened.last().map(|(file, _)| file.stamp);
        let regular = stat.filter(|stat| stat.kind == FileKind::Regular);
        let stamp = stamp.or_else(|| regular.map(|stat| stat.stamp));
        let owner = text.as_ref().map(|text| text.owner.into());
        let found = match (stamp, text, stat, failure) {
            (None, Some(text), ..) => {
                let stamp = FileStamp { size: text.bytes.len() as u64, ..FileStamp::default() };
                let content = Some(self.push(&path, text.bytes.into()));
                JournalAnswer::File { stamp, owner, content }
            }
            (Some(stamp), text, ..) => {
                let earlier = self.by_stamp.get(&stamp).copied();
                let content = earlier.or_else(|| Some(self.push(&path, text?.bytes.into())));
                JournalAnswer::File { stamp, owner, content }
            }
            (None, None, Some(stat), _) => JournalAnswer::Other(stat.kind),
            (None, None, None, _) if recorded.is_some() => JournalAnswer::Other(FileKind::Regular),
            (None, None, None, Some(failure)) => JournalAnswer::Failed(failure),
            // The folder was listed.
            (None, None, None, None) => JournalAnswer::Other(FileKind::Directory),
        };
        JournalPath { path, root, found, entries, recorded }
    }
}
