//! Proof that a bundle gives the same result as the recording.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bundle::{AbsentFile, HashWriter, JournalAnswers};
use formats::{Format, FormatOptions};
use perf_data::SampleType;
use pipeline::{Analysis, Observer, Options};
use profile::Profile;

use crate::args::{pipeline, source, with_argument};

/// Result of a replay.
pub(super) enum ReplayVerdict {
    /// The JSON is equal.
    Same,
    /// The JSON differs, or the replay failed.
    Other {
        /// Files that the replay read in parts that the bundle does not contain.
        holes: Vec<PathBuf>,
    },
}

/// Returns the SHA-256 of a profile's JSON.
pub(super) fn json_hash(profile: &Profile) -> anyhow::Result<[u8; 32]> {
    let mut hash = HashWriter::default();
    Format::Json.printer(FormatOptions::DEFAULT).print(profile, &mut hash)?;
    Ok(hash.finish())
}

/// Replays a bundle from its own contents alone, and absent files of the run.
pub(super) fn replay(
    bundle: &Path,
    taken: &JournalAnswers,
    observer: &Arc<dyn Observer>,
    expected: Option<[u8; 32]>,
) -> anyhow::Result<ReplayVerdict> {
    let options = Options::default();
    let find = |wanted: &AbsentFile<'_>| taken.file(wanted);
    let resolved = pipeline().resolve_source_with(source(bundle), &options, &find);
    let resolved = resolved.map_err(with_argument)?;
    let holes = || resolved.bundle_host().map(bundle::BundleHost::read_holes).unwrap_or_default();
    let source = pipeline::Source::Path(resolved.source.name().to_owned());
    let analysis = resolved.pipeline.analyze(source, &resolved.options, observer);
    let Ok(analysis) = analysis else { return Ok(ReplayVerdict::Other { holes: holes() }) };
    let is_same = Some(json_hash(&analysis.profile)?) == expected;
    Ok(if is_same { ReplayVerdict::Same } else { ReplayVerdict::Other { holes: holes() } })
}

/// Returns true if samples of the recording have stack copies.
pub(super) fn has_stacks(analysis: &Analysis) -> bool {
    let mut events = analysis.head.iter().flat_map(|head| head.events());
    events.any(|event| event.attr.sample_type.has(SampleType::STACK_USER))
}
