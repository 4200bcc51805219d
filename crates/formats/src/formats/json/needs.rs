//! What chains need of the stack, and which size of its copy would serve, in the summary.

use profile::{DUMP_SIZES, DumpAdvice, Profile};

use super::writer::{JsonDocument, number};

/// Adds `stack_needs`.
pub(super) fn add(json: &mut JsonDocument<'_>, profile: &Profile) {
    let needs = &profile.summary.stack_needs;
    let recorded = profile.recording.stack_bytes.map_or(0, u64::from);
    json.raw(",\"stack_needs\":{\"recorded\":");
    json.value(|out| number(out, recorded));
    json.raw(",\"sizes\":");
    json.array(DUMP_SIZES, number);
    let columns =
        [("whole", needs.whole), ("joined", needs.joined), ("across_gap", needs.across_gap)];
    for (name, counts) in columns {
        json.raw(",\"");
        json.raw(name);
        json.raw("\":");
        json.array(counts, number);
    }
    json.raw(",\"cut\":");
    json.value(|out| number(out, needs.cut));
    if let DumpAdvice::Change { bytes, rooted } =
        DumpAdvice::new(needs, recorded, profile.samples.len() as u64)
    {
        json.raw(",\"suggested\":{\"bytes\":");
        json.value(|out| number(out, bytes));
        if let Some(rooted) = rooted {
            json.raw(",\"rooted\":");
            json.value(|out| number(out, rooted));
        }
        json.raw("}");
    }
    json.raw("}");
}
