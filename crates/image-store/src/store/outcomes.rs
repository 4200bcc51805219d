//! What came of looking for the files of modules, in one run: a look-up takes no lock and no hash.

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

/// A file, or why there is none.
pub(crate) type ImageOutcome = Result<FoundImage, LoadError>;

/// The outcomes of a run. A run has one timeline as a rule, and a second one where its replay had to begin again.
#[derive(Debug, Default)]
pub(crate) struct Outcomes(OnceLock<Box<OfTimeline>>);

/// The outcomes of the modules of one timeline, and those of the next timeline.
#[derive(Debug)]
struct OfTimeline {
    timeline: TimelineId,
    by_module: GrowTable<ImageOutcome>,
    next: Outcomes,
}

impl Outcomes {
    /// What came of a module, if somebody asked for it.
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

    /// The same, loaded by the first caller.
    pub(crate) fn get_or_init(
        &self,
        module: &Module,
        load: impl FnOnce() -> ImageOutcome,
    ) -> &ImageOutcome {
        let mut at = self;
        loop {
            let table = at.0.get_or_init(|| {
                let timeline = module.timeline;
                Box::new(OfTimeline {
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
