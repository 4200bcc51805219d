//! Findings on samples without a label, and on spans that are not known.

use options::{Remedy, Spelling};
use profile::{Advice, FindingRow, Profile};
use replay::{HistoryCounts, SpanCounts};

/// Returns the findings on labels and spans.
pub(in crate::runs) fn history_findings(
    profile: &Profile,
    counts: HistoryCounts,
    spelling: Spelling,
) -> Vec<FindingRow> {
    let labels = unknown_labels(profile, counts.partial_label_events, spelling);
    labels.into_iter().chain(unknown_spans(counts.spans, spelling)).collect()
}

/// Returns the finding on samples that have no label because events were not recorded. `partial` is the number of
/// events that affect labels and were recorded only in part.
fn unknown_labels(profile: &Profile, partial: u64, spelling: Spelling) -> Option<FindingRow> {
    let (message, remedy) = match partial {
        0 => (
            "samples have no label, because events of the label were lost or throttled, or lack its field",
            Remedy::LargerBuffers,
        ),
        _ => (
            "samples have no label, because its events were sampled instead of all recorded",
            Remedy::EveryEvent,
        ),
    };
    let count = profile.fields.unknown_labels();
    (count > 0).then(|| row("label-unknown", message, count, Some((remedy, spelling))))
}

fn unknown_spans(counts: SpanCounts, spelling: Spelling) -> Vec<FindingRow> {
    let SpanCounts { unended, unbegun, unknown, partial_events } = counts;
    let rows = [
        (
            "span-unknown",
            "there are no spans, because their events were sampled instead of all recorded",
            partial_events,
            Some(Remedy::EveryEvent),
        ),
        (
            "span-unknown",
            "spans are omitted, because events were lost or throttled in their time, or lack their key",
            unknown,
            Some(Remedy::LargerBuffers),
        ),
        (
            "span-incomplete",
            "spans had not ended at the end of their thread, of the recording, or at the next begin with their key",
            unended,
            None,
        ),
        ("span-incomplete", "events end a span that did not begin in the recording", unbegun, None),
    ];
    let rows = rows.into_iter().filter(|(_, _, count, _)| *count > 0);
    rows.map(|(kind, message, count, remedy)| {
        row(kind, message, count, remedy.map(|it| (it, spelling)))
    })
    .collect()
}

fn row(kind: &str, message: &str, count: u64, remedy: Option<(Remedy, Spelling)>) -> FindingRow {
    FindingRow {
        kind: kind.to_owned(),
        message: message.to_owned(),
        count,
        help: remedy.map(|(remedy, spelling)| Advice::new(&remedy, spelling)),
    }
}
