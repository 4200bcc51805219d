//! Stack sizes that chains need, and the suggested size of the stack copies, for the summary.

use profile::{DUMP_SIZES, DumpAdvice, Profile};

use crate::render::encoding::json_writer::JsonWriter;
use crate::summary::unwound_samples;

/// Appends the object `stack_needs`.
pub(super) fn add(json: &mut JsonWriter, profile: &Profile) {
    let needs = &profile.summary.stack_needs;
    let recorded = profile.recording.stack_bytes.map_or(0, u64::from);
    json.key("stack_needs").object(|json| {
        json.key("recorded").number(recorded);
        json.key("sizes").array(DUMP_SIZES, JsonWriter::number);
        json.key("whole").array(needs.whole, JsonWriter::number);
        json.key("joined").array(needs.joined, JsonWriter::number);
        json.key("across_gap").array(needs.across_gap, JsonWriter::number);
        json.key("cut").number(needs.truncated);
        if let DumpAdvice::Change { bytes, rooted } =
            DumpAdvice::new(needs, recorded, unwound_samples(profile))
        {
            json.key("suggested").object(|json| {
                json.key("bytes").number(bytes);
                if let Some(rooted) = rooted {
                    json.key("rooted").number(rooted);
                }
            });
        }
    });
}
