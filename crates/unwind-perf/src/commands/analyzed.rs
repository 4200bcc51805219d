//! Analyses of recordings, or the results of equal earlier runs.

use std::path::Path;
use std::sync::Arc;

use pipeline::{Analysis, Error, Observer, Options, Pipeline, RecallNeeds};

use crate::args::{RunArgs, source};

/// Analyzes a recording, or finds the result of an equal earlier run. With `--timings`, it is analyzed, because the
/// stages of an earlier run are not its own.
///
/// # Errors
/// As for [`Pipeline::analyze`].
pub(super) fn analyzed(
    pipeline: &Pipeline,
    input: &Path,
    options: &Options,
    needs: RecallNeeds,
    args: &RunArgs,
    observer: &Arc<dyn Observer>,
) -> Result<Analysis, Error> {
    if args.timings {
        return pipeline.analyze(source(input), options, observer);
    }
    pipeline.analyze_or_recall(source(input), options, needs, observer)
}
