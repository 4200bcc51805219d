//! Findings about files, besides the reasons for missing images: parts omitted, files refused or unavailable.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use address::{Avma, Pid};
use host::HostFinding;
use module_map::Module;
use options::Remedy;

/// Maximum number of messages per kind; further ones are only counted.
const MAX_MESSAGES: usize = 5;

/// Kinds of findings about files.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FileFindingKind {
    /// A map of a JIT compiler owned by another user.
    ForeignPerfMap,
    /// A map of a JIT compiler that is older than its process.
    StalePerfMap,
    /// A map of a JIT compiler of unknown age relative to its process.
    UndatedPerfMap,
    /// A map of a JIT compiler with unparsable lines.
    PerfMap,
    /// A list of kernel symbols with unparsable lines.
    KernelList,
    /// A file larger than the limit for reading.
    TooLarge,
    /// A part of a file that unpacks to, or requires, more than allowed for the file's size.
    PartOmitted,
    /// A file that was truncated while it was read.
    Truncated,
    /// A dump of JIT code with damaged records, or a partial one at the end.
    JitDump,
    /// A section with an embedded file that cannot be unpacked.
    Section,
    /// An unusable file with the debug information of another one.
    DebugFile,
    /// A server that failed to deliver a file without reporting it as absent.
    Server,
    /// A usual folder of files by build-id that other users can write.
    SharedFolder,
    /// Data missing in a bundle, because it was not requested when the bundle was made.
    NotInBundle,
    /// A file that the bundle leaves to stores, which do not have it.
    NotInStore,
    /// A part of a file that the bundle omitted and that was read.
    Hole,
}

impl FileFindingKind {
    /// Keyword for programs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ForeignPerfMap => "perf-map-not-trusted",
            Self::StalePerfMap => "perf-map-stale",
            Self::UndatedPerfMap => "perf-map-undated",
            Self::PerfMap => "perf-map-damaged",
            Self::KernelList => "kallsyms-damaged",
            Self::TooLarge => "file-too-large",
            Self::PartOmitted => "file-part-left-out",
            Self::Truncated => "file-cut-short",
            Self::JitDump => "jitdump-damaged",
            Self::Section => "section-unreadable",
            Self::DebugFile => "debug-file-unusable",
            Self::Server => "debuginfod-failed",
            Self::SharedFolder => "folder-not-trusted",
            Self::NotInBundle => "not-in-bundle",
            Self::NotInStore => "not-in-store",
            Self::Hole => "hole",
        }
    }

    /// Returns true if names, lines or frames may be missing because of it, and not by choice.
    #[must_use]
    pub const fn is_damage(self) -> bool {
        !matches!(
            self,
            Self::ForeignPerfMap | Self::StalePerfMap | Self::UndatedPerfMap | Self::SharedFolder
        )
    }
}

impl FileFindingKind {
    /// Returns the action that would help; `None` if none is known, or the message states it.
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
    /// Kind.
    pub kind: FileFindingKind,
    /// Message, a sentence.
    pub message: String,
    /// Number of occurrences.
    pub count: u64,
}

impl From<&HostFinding> for FileFindingKind {
    fn from(finding: &HostFinding) -> Self {
        match finding {
            HostFinding::NotInBundle { .. } => Self::NotInBundle,
            HostFinding::NotInStore { .. } => Self::NotInStore,
            HostFinding::Hole { .. } => Self::Hole,
        }
    }
}

/// Findings of a run, from all threads.
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

    /// Adds a finding that counts once.
    pub(crate) fn note_once(&self, kind: FileFindingKind, message: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert((kind, message), 1);
    }

    /// Returns the findings by kind and message: the first few of each kind, the last one with the count of all others.
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

/// Memory without a file that was attributed to the file mapped around it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RemappedText {
    /// Process that mapped the memory first; its children can have it, too.
    pub pid: Pid,
    /// First address.
    pub start: Avma,
    /// Address after the last.
    pub end: Avma,
    /// Recorded path of the file.
    pub path: Box<[u8]>,
}

/// Moved text of a run, without duplicates from different threads.
#[derive(Debug, Default)]
pub(crate) struct RemappedTexts(Mutex<BTreeSet<RemappedText>>);

impl RemappedTexts {
    /// Adds a range of memory without a file, and the module with its text. Returns the memory
    /// taken in bytes, 0 if the range was present.
    pub(crate) fn note(&self, memory: &Module, range: Range<Avma>, of: &Module) -> u64 {
        let Some((pid, _)) = memory.first_mapped else { return 0 };
        let bytes = size_of::<RemappedText>() + of.path.len();
        let Range { start, end } = range;
        let moved = RemappedText { pid, start, end, path: of.path.clone() };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.insert(moved) { bytes as u64 } else { 0 }
    }

    /// Returns the ranges by process and address.
    pub(crate) fn rows(&self) -> Vec<RemappedText> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_of_each_kind_are_named() {
        let findings = FileFindings::default();
        findings.note(FileFindingKind::Truncated, "x".to_owned());
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
