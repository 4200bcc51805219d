//! Finished profiles of earlier runs. A run on an unchanged recording, with the same options and the same answers of the
//! host, has the same profile, and need not replay the recording.
//!
//! ```text
//!   first run   host <-- witness <-- analysis --> profile, testimony, modules --> cache
//!   later run   host <-- testimony (all answers are equal?) <-- cache --> profile
//!               host <-- files of modules, if instructions or directories are needed
//! ```

mod key;
mod modules;
mod run;

use std::sync::Arc;

use host::WitnessHost;
use options::Options;

use self::run::RecallableRun;
use crate::observer::Observer;
use crate::{Analysis, Error, Pipeline, Source};

/// The parts of a result that a caller needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecallNeeds {
    /// The profile alone.
    Profile,
    /// The files of the modules as well: for instructions and the directories of sources.
    Files,
}

impl Pipeline {
    /// Analyzes a recording, or returns the result of an equal earlier run from the cache of `options`. Profiles with
    /// values, labels or spans are not stored, and damaged recordings are analyzed each time.
    ///
    /// # Errors
    /// As for [`Self::analyze`].
    pub fn analyze_or_recall(
        &self,
        source: Source,
        options: &Options,
        needs: RecallNeeds,
        observer: &Arc<dyn Observer>,
    ) -> Result<Analysis, Error> {
        let Some(run) = RecallableRun::of(self, &source, options) else {
            return self.analyze(source, options, observer);
        };
        if let Some(analysis) = run.recall(needs, observer) {
            return Ok(analysis);
        }
        let witness = WitnessHost::new(Arc::clone(self.host()));
        let analysis = self.on(witness.clone()).analyze(source, options, observer)?;
        run.store(&analysis, &witness);
        Ok(analysis)
    }
}
