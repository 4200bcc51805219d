//! Findings on the identity of files: rejected files, and files that were used unverified.

use image_store::{FileProof, ImageStore, LoadError};
use module_map::{MappedKind, Timeline};
use profile::FindingRow;

/// Returns a finding for each module with a rejected file.
pub(super) fn refused(timeline: &Timeline, images: &ImageStore) -> Vec<FindingRow> {
    let row = |error: &LoadError| {
        let kind = kind_of(error)?.to_owned();
        Some(FindingRow { kind, message: error.to_string(), count: 1, help: None })
    };
    let outcomes = timeline.modules().iter().filter_map(|module| images.outcome(module));
    outcomes.filter_map(Result::err).filter_map(row).collect()
}

/// Returns true if the file of a module with frames is damaged.
pub(super) fn has_damaged(timeline: &Timeline, images: &ImageStore) -> bool {
    let outcomes = timeline.modules().iter().filter_map(|module| images.outcome(module));
    let mut refused = outcomes.filter_map(Result::err);
    refused.any(|error| matches!(error, LoadError::Unusable(error) if error.is_damage()))
}

/// Returns the kind of finding for a rejected file; `None` for modules without a file.
const fn kind_of(error: &LoadError) -> Option<&'static str> {
    match error {
        LoadError::BuildId { .. } => Some("build-id-mismatch"),
        LoadError::Replaced(_) | LoadError::Deleted(_) | LoadError::OtherFile { .. } => {
            Some("file-replaced")
        }
        LoadError::Shared(_) | LoadError::Ambiguous { .. } => Some("file-ambiguous"),
        LoadError::Unusable(_) => Some("file-unusable"),
        _ => None,
    }
}

/// Returns one finding, with an example, on files that were used although nothing verifies their identity.
pub(super) fn unverified(timeline: &Timeline, images: &ImageStore) -> Option<FindingRow> {
    let is_unverified = |module: &&std::sync::Arc<module_map::Module>| {
        module.kind == MappedKind::File && images.proof(module) == Some(FileProof::None)
    };
    let mut found = timeline.modules().iter().filter(is_unverified);
    let first = found.next()?;
    Some(FindingRow {
        kind: "unverified-file".to_owned(),
        message: format!(
            "{} was found by path only and may be another build; record with perf record --buildid-mmap",
            String::from_utf8_lossy(&first.path)
        ),
        count: 1 + found.count() as u64,
        help: None,
    })
}
