//! Function starts from unwind information, for stripped files without function names.

use std::sync::Arc;

use address::Svma;
use image_store::{ImageStore, LoadedImage};

use super::sections::{CfiSections, FoundFde};

/// The starts of a file's functions.
#[derive(Debug)]
pub struct FunctionStarts(CfiSections);

impl FunctionStarts {
    /// Creates the starts of a file's functions.
    #[must_use]
    pub fn new(file: Arc<LoadedImage>) -> Self {
        Self(CfiSections::new(file))
    }

    /// Returns the start of the function that covers an address, both as the file states them; `None` if no description
    /// covers it. A part that a compiler placed elsewhere counts as a function.
    #[must_use]
    pub fn start_of(&self, svma: Svma, images: &ImageStore) -> Option<Svma> {
        self.range_of(svma, images).map(|(start, _)| start)
    }

    /// Returns the start and the end of that function.
    #[must_use]
    pub fn range_of(&self, svma: Svma, images: &ImageStore) -> Option<(Svma, Svma)> {
        match self.0.find(svma, images)?.ok()? {
            FoundFde::Eh(fde, _) | FoundFde::Debug(fde, ..) => {
                let start = Svma(fde.initial_address());
                Some((start, start.add(fde.len())))
            }
        }
    }
}
