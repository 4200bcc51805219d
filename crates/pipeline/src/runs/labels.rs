//! The finding on labels that are not known.

use options::{Remedy, Spelling};
use profile::{Advice, FindingRow, Profile};

/// Returns the finding on samples that have no label because events were not recorded. `partial` is the number of
/// events that affect labels and were recorded only in part.
pub(super) fn unknown_labels(
    profile: &Profile,
    partial: u64,
    spelling: Spelling,
) -> Option<FindingRow> {
    let (message, remedy) = match partial {
        0 => (
            "samples have no label, because events of the label were lost or throttled, or lack its field",
            Remedy::LargerBuffers,
        ),
        _ => (
            "samples have no label, because its events were sampled instead of all recorded",
            Remedy::EachLabelEvent,
        ),
    };
    let count = profile.fields.unknown_labels();
    (count > 0).then(|| FindingRow {
        kind: "label-unknown".to_owned(),
        message: message.to_owned(),
        count,
        help: Some(Advice::new(&remedy, spelling)),
    })
}
