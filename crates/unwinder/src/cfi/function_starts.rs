//! Where functions begin, as unwind information has it: for code of stripped files, whose functions have no names.

use std::sync::Arc;

use address::Svma;
use image_store::{ImageStore, LoadedImage};

use super::sections::{CfiSections, FoundFde};

/// Where the functions of a file begin.
#[derive(Debug)]
pub struct FunctionStarts(CfiSections);

impl FunctionStarts {
    /// Those of a file.
    #[must_use]
    pub fn new(file: Arc<LoadedImage>) -> Self {
        Self(CfiSections::new(file))
    }

    /// The address at which the function begins that covers an address, both as the file states them; `None` where no
    /// description covers it. A part that a compiler put elsewhere is a function of its own.
    #[must_use]
    pub fn start_of(&self, svma: Svma, images: &ImageStore) -> Option<Svma> {
        self.range_of(svma, images).map(|(start, _)| start)
    }

    /// The same with where it ends.
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
