//! Results of the search for the files of modules in one run. A lookup takes no lock and computes no hash.

use std::sync::{Arc, OnceLock};

use module_map::{GrowTable, Module, TimelineId};

use super::loaded::LoadedImage;
use crate::identity::{FileProof, LoadError};

/// An opened file, and the proof that it is the recorded one.
#[derive(Clone, Debug)]
pub(crate) struct FoundImage {
    pub(crate) image: Arc<LoadedImage>,
    pub(crate) proof: FileProof,
}

/// A file, or the reason why there is none.
pub(crate) type ImageOutcome = Result<FoundImage, LoadError>;

/// Results of a run. A run usually has one timeline, and a second one if its replay had to restart.
#[derive(Debug, Default)]
pub(crate) struct ImageOutcomes(OnceLock<Box<TimelineOutcomes>>);

/// Results for the modules of one timeline, and of the next timeline.
#[derive(Debug)]
struct TimelineOutcomes {
    timeline: TimelineId,
    by_module: GrowTable<ImageOutcome>,
    next: ImageOutcomes,
}

impl ImageOutcomes {
    /// Returns the result for a module if it was requested.
    pub(crate) fn get(&self, module: &Module) -> Option<&ImageOutcome> {
        let mut at = self;
        loop {
            let table = at.0.get()?;
            if table.timeline == module.timeline {
                return table.by_module.get(module.id);
            }
            at = &table.next;
        }
    }

    /// Returns the result for a module; the first caller loads it.
    pub(crate) fn get_or_init(
        &self,
        module: &Module,
        load: impl FnOnce() -> ImageOutcome,
    ) -> &ImageOutcome {
        let mut at = self;
        loop {
            let table = at.0.get_or_init(|| {
                let timeline = module.timeline;
                Box::new(TimelineOutcomes {
                    timeline,
                    by_module: GrowTable::default(),
                    next: Self::default(),
                })
            });
            if table.timeline == module.timeline {
                return table.by_module.get_or_init(module.id, load);
            }
            at = &table.next;
        }
    }
}
