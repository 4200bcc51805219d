//! A search among the places of a file with debug information. Files that are there, but cannot be used, are said if no
//! other place has a usable one: names or lines are lost by them. That nothing is there is said by nobody.

use std::fmt::Display;

use host::HostError;

use crate::elf::{Image, ImageError};
use crate::search::{FileCandidate, FileFindingKind};
use crate::store::images::ImageStore;

/// One search, with the files that it has refused so far.
pub(super) struct Search<'s> {
    pub(super) store: &'s ImageStore,
    refused: Refused,
}

/// Why files that were found were not used: a sentence on each, which begins with its path.
#[derive(Debug, Default)]
pub(super) struct Refused(Vec<String>);

impl<'s> Search<'s> {
    pub(super) fn new(store: &'s ImageStore) -> Self {
        Self { store, refused: Refused::default() }
    }

    /// Opens the file of a place. A file that cannot be read, or is no whole ELF file, is refused.
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
                    self.refused.0.push(why);
                }
                None
            }
        }
    }

    /// Whether an error is one of a file that is there and that nobody else reports.
    fn is_there(&self, candidate: &FileCandidate, error: &ImageError) -> bool {
        match error {
            // The way to it may be closed: then nothing says that it is there.
            ImageError::Host(HostError::Io { .. }) => {
                let host = &self.store.options().host;
                !error.is_missing() && host.stat(&candidate.path, candidate.origin()).is_ok()
            }
            ImageError::Host(_) | ImageError::TooMuch { .. } => false,
            _ => true,
        }
    }

    /// Refuses a file that opens and is not the wanted one. A file that the user named for something else is none of them.
    pub(super) fn refuse(&mut self, candidate: &FileCandidate, why: &str) {
        if !candidate.is_of_user() {
            self.refuse_any(&candidate.path.display(), why);
        }
    }

    /// Refuses the statement of a file.
    pub(super) fn refuse_any(&mut self, path: &dyn Display, why: &str) {
        self.refused.0.push(format!("{path} {why}"));
    }

    /// The refused files.
    pub(super) fn into_refused(self) -> Refused {
        self.refused
    }
}

impl Refused {
    /// Tells of the refused files: for which part of a file they were looked up, and which names or lines are missing.
    pub(super) fn note(&self, store: &ImageStore, part: &str, owner: &dyn Display, missing: &str) {
        for why in &self.0 {
            let message =
                format!("{why}; as {part} of {owner} it is not used, so {missing} are missing");
            store.note_once(FileFindingKind::DebugFile, message);
        }
    }
}
