//! Findings of a replay.

use profile::FindingRow;

/// Finding for a recording whose callchains have evidence that cannot be read.
pub(super) fn evidence_ignored() -> FindingRow {
    FindingRow {
        kind: "feature-ignored".to_owned(),
        message: "the evidence for the callchains is damaged or exceeds the memory limit; they count as a recorder's"
            .to_owned(),
        count: 1,
        help: None,
    }
}

/// Finding for frames of modules with more load addresses in a process than ids can distinguish.
pub(super) fn too_many_addresses(frames: u64) -> Option<FindingRow> {
    (frames > 0).then(|| FindingRow {
        kind: "limit-reached".to_owned(),
        message: "a module is mapped at more than 256 addresses of a process; frames at the others have no module or name"
            .to_owned(),
        count: frames,
        help: None,
    })
}

/// Kind of the finding on stacks that were not walked.
pub const STACKS_DROPPED: &str = "stacks-dropped";

/// Finding for stacks that were not walked, since samples arrived faster than they were processed.
pub(super) fn dropped_stacks(samples: u64) -> Option<FindingRow> {
    (samples > 0).then(|| FindingRow {
        kind: STACKS_DROPPED.to_owned(),
        message:
            "samples arrived faster than their stacks were walked: they have one function each"
                .to_owned(),
        count: samples,
        help: None,
    })
}

/// Finding for requested fields that samples do not have.
pub(super) fn missing_fields(values: u64) -> Option<FindingRow> {
    (values > 0).then(|| FindingRow {
        kind: "field-missing".to_owned(),
        message: "samples lack a requested field: they have no value, or, if it is their weight, are omitted"
            .to_owned(),
        count: values,
        help: None,
    })
}

/// Finding for fields that cannot be selected, since there are too many.
pub(super) fn too_many_fields(fields: u64) -> Option<FindingRow> {
    (fields > 0).then(|| FindingRow {
        kind: "limit-reached".to_owned(),
        message: "the events have more than 65,536 fields; the others are not selected".to_owned(),
        count: fields,
        help: None,
    })
}

/// Finding for events whose format cannot be evaluated, so that their samples have fields instead of a text.
pub(super) fn unsupported_texts(events: u64) -> Option<FindingRow> {
    (events > 0).then(|| FindingRow {
        kind: "trace-format".to_owned(),
        message:
            "events have a print format that is not supported; their fields are printed instead"
                .to_owned(),
        count: events,
        help: None,
    })
}
