//! What is to be said about files beside why a module has none: what was left out, refused or not to be had.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use address::{Avma, Pid};
use host::HostFinding;
use module_map::Module;
use options::Remedy;

/// Messages of each kind that have a row of their own; the others are counted.
const MAX_MESSAGES: usize = 5;

/// The kinds of such findings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FileFindingKind {
    /// A map of a JIT compiler that another user owns.
    ForeignPerfMap,
    /// A map of a JIT compiler that is older than its process.
    StalePerfMap,
    /// A map of a JIT compiler of which nothing tells whether it is older than its process.
    UndatedPerfMap,
    /// A map of a JIT compiler with lines that cannot be read.
    PerfMap,
    /// A list of kernel symbols with lines that cannot be read.
    KernelList,
    /// A file that is larger than what is read of one.
    TooLarge,
    /// A part of a file that unpacks to, or asks for, more than a file of its size may.
    LeftOut,
    /// A file that was cut short while it was read.
    CutShort,
    /// A dump of JIT code that does not end with a whole record, or has damaged ones.
    JitDump,
    /// A section that another file is packed in, which does not unpack.
    Section,
    /// A file with debug information of another one that was found and cannot be used.
    DebugFile,
    /// A server that did not give what it was asked for, though it did not say that it has no such file.
    Server,
    /// A usual folder of files by build-id that other users have a part in.
    SharedFolder,
    /// What a bundle does not know, since nobody asked for it when it was made.
    NotInBundle,
    /// A part of a file that a bundle left out, and that was read.
    Hole,
}

impl FileFindingKind {
    /// The word for programs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ForeignPerfMap => "perf-map-not-trusted",
            Self::StalePerfMap => "perf-map-stale",
            Self::UndatedPerfMap => "perf-map-undated",
            Self::PerfMap => "perf-map-damaged",
            Self::KernelList => "kallsyms-damaged",
            Self::TooLarge => "file-too-large",
            Self::LeftOut => "file-part-left-out",
            Self::CutShort => "file-cut-short",
            Self::JitDump => "jitdump-damaged",
            Self::Section => "section-unreadable",
            Self::DebugFile => "debug-file-unusable",
            Self::Server => "debuginfod-failed",
            Self::SharedFolder => "folder-not-trusted",
            Self::NotInBundle => "not-in-bundle",
            Self::Hole => "hole",
        }
    }

    /// Whether names, lines or frames may be missing because of it, and nobody chose that.
    #[must_use]
    pub const fn is_damage(self) -> bool {
        !matches!(
            self,
            Self::ForeignPerfMap | Self::StalePerfMap | Self::UndatedPerfMap | Self::SharedFolder
        )
    }
}

impl FileFindingKind {
    /// The action that would help; `None` if none is known, or the sentence says it.
    #[must_use]
    pub const fn remedy(self) -> Option<Remedy> {
        match self {
            Self::ForeignPerfMap | Self::StalePerfMap => Some(Remedy::TrustMaps),
            Self::UndatedPerfMap => Some(Remedy::DateMaps),
            _ => None,
        }
    }
}

/// A finding about files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileFinding {
    /// What kind.
    pub kind: FileFindingKind,
    /// A sentence.
    pub message: String,
    /// How often.
    pub count: u64,
}

impl From<&HostFinding> for FileFindingKind {
    fn from(finding: &HostFinding) -> Self {
        match finding {
            HostFinding::NotInBundle { .. } => Self::NotInBundle,
            HostFinding::Hole { .. } => Self::Hole,
        }
    }
}

/// Gathers findings of a run, from all threads.
#[derive(Debug, Default)]
pub(crate) struct FileFindings(Mutex<BTreeMap<(FileFindingKind, String), u64>>);

impl FileFindings {
    pub(crate) fn note(&self, kind: FileFindingKind, message: String) {
        *self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry((kind, message))
            .or_default() += 1;
    }

    /// The same, however often it is noted.
    pub(crate) fn note_once(&self, kind: FileFindingKind, message: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert((kind, message), 1);
    }

    /// By kind and message; of each kind the first few, and how many more there are.
    pub(crate) fn rows(&self) -> Vec<FileFinding> {
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rows: Vec<FileFinding> = Vec::new();
        let mut of_kind = 0;
        for ((kind, message), &count) in found.iter() {
            match rows.last_mut().filter(|last| last.kind == *kind) {
                Some(last) if of_kind == MAX_MESSAGES => last.count += count,
                last => {
                    of_kind = if last.is_some() { of_kind + 1 } else { 1 };
                    rows.push(FileFinding { kind: *kind, message: message.clone(), count });
                }
            }
        }
        rows
    }
}

/// Memory without a file that was taken for the file that is mapped around it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct MovedText {
    /// The process that mapped the memory first; its children may have it, too.
    pub pid: Pid,
    /// The first address.
    pub start: Avma,
    /// The address past the last.
    pub end: Avma,
    /// The recorded path of the file.
    pub path: Box<[u8]>,
}

/// The moved text of a run: each range once, whichever thread finds it first.
#[derive(Debug, Default)]
pub(crate) struct MovedTexts(Mutex<BTreeSet<MovedText>>);

impl MovedTexts {
    /// Notes a range of memory without a file, and the module whose text it is. Returns the bytes that the note takes, 0
    /// if it is there already.
    pub(crate) fn note(&self, memory: &Module, range: Range<Avma>, of: &Module) -> u64 {
        let Some((pid, _)) = memory.first_mapped else { return 0 };
        let bytes = size_of::<MovedText>() + of.path.len();
        let Range { start, end } = range;
        let moved = MovedText { pid, start, end, path: of.path.clone() };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.insert(moved) { bytes as u64 } else { 0 }
    }

    /// In the order of processes and addresses.
    pub(crate) fn rows(&self) -> Vec<MovedText> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_of_each_kind_are_named() {
        let findings = FileFindings::default();
        findings.note(FileFindingKind::CutShort, "x".to_owned());
        for file in (0..8).chain(0..2) {
            findings.note(FileFindingKind::TooLarge, file.to_string());
        }
        let rows = findings.rows();
        let counts: Vec<_> =
            rows.iter().map(|row| (row.kind.as_str(), &*row.message, row.count)).collect();
        let large = "file-too-large";
        let expected = [(large, "0", 2), (large, "1", 2), (large, "2", 1), (large, "3", 1)];
        assert_eq!(counts[..4], expected);
        assert_eq!(counts[4..], [(large, "4", 4), ("file-cut-short", "x", 1)]);
    }
}
