//! Search among the candidate paths of a file with debug information. If no candidate is usable, the unusable files are
//! reported, because names or lines are missing without them.
//! Absence of all candidates is not reported.

use std::fmt::Display;

use host::HostError;

use crate::elf::{Image, ImageError};
use crate::search::{FileCandidate, FileFindingKind};
use crate::store::images::ImageStore;

/// One search, with the files refused so far.
pub(super) struct DebugSearch<'s> {
    pub(super) store: &'s ImageStore,
    rejected: RejectedFiles,
}

/// Reasons for refusing existing files; each is a sentence that starts with the path.
#[derive(Debug, Default)]
pub(super) struct RejectedFiles(Vec<String>);

impl<'s> DebugSearch<'s> {
    pub(super) fn new(store: &'s ImageStore) -> Self {
        Self { store, rejected: RejectedFiles::default() }
    }

    /// Opens a candidate. A file that is unreadable or not a complete ELF file is refused.
    pub(super) fn open(&mut self, candidate: &FileCandidate) -> Option<Image> {
        match self.store.open_image(candidate) {
            Ok(image) => Some(image),
            Err(error) => {
                if self.is_there(candidate, &error) {
                    let why = match &error {
                        ImageError::Host(HostError::Io { source, .. }) => {
                            format!("{error}: {source}")
                        }
                        _ => error.to_string(),
                    };
                    self.rejected.0.push(why);
                }
                None
            }
        }
    }

    /// Returns true if an error concerns an existing file and is not reported elsewhere.
    fn is_there(&self, candidate: &FileCandidate, error: &ImageError) -> bool {
        match error {
            // The path may be inaccessible: then the existence of the file is unknown.
            ImageError::Host(HostError::Io { .. }) => {
                let host = &self.store.options().host;
                !error.is_missing() && host.stat(&candidate.path, candidate.origin()).is_ok()
            }
            ImageError::Host(_) | ImageError::TooMuch { .. } => false,
            _ => true,
        }
    }

    /// Refuses a file that opens but is not the requested one. A file that the user named for
    /// another purpose is not reported.
    pub(super) fn reject(&mut self, candidate: &FileCandidate, why: &str) {
        if !candidate.is_of_user() {
            self.reject_any(&candidate.path.display(), why);
        }
    }

    /// Refuses a statement in a file.
    pub(super) fn reject_any(&mut self, path: &dyn Display, why: &str) {
        self.rejected.0.push(format!("{path} {why}"));
    }

    /// Returns the refused files.
    pub(super) fn into_rejected(self) -> RejectedFiles {
        self.rejected
    }
}

impl RejectedFiles {
    /// Reports the refused files with the part that was searched, its owner, and the names or lines that are missing.
    pub(super) fn note(&self, store: &ImageStore, part: &str, owner: &dyn Display, missing: &str) {
        for why in &self.0 {
            let message =
                format!("{why}; as {part} of {owner} it is not used, so {missing} are missing");
            store.note_once(FileFindingKind::DebugFile, message);
        }
    }
}
