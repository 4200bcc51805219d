//! Metadata of streams: their type, and the recording. The facts and terms are those of the default format's first and
//! last lines.

use arrow_schema::Metadata;
use profile::Profile;

use crate::formats::json::{recording_json, summary_json};
use crate::render::start::start_utc_ns;

/// Version, incremented by changes that break readers.
const VERSION: &str = "1";

/// Returns the keys of a stream; `schema` is the name of the layout, `table` the name of the table.
pub(super) fn keys(schema: &str, table: &str) -> Metadata {
    [
        ("unwind_perf.schema", schema),
        ("unwind_perf.version", VERSION),
        ("unwind_perf.generator", concat!("unwind-perf ", env!("CARGO_PKG_VERSION"))),
        ("unwind_perf.table", table),
    ]
    .into_iter()
    .collect()
}

/// Returns [`keys`] with the recording's header as JSON.
pub(super) fn keys_with_recording(schema: &str, table: &str, profile: &Profile) -> Metadata {
    let mut keys = keys(schema, table);
    keys.insert("unwind_perf.recording", recording_json(profile));
    keys
}

/// Returns [`keys_with_recording`] with the summary of the run as JSON, and the start in nanoseconds since 1970.
pub(super) fn keys_with_account(schema: &str, table: &str, profile: &Profile) -> Metadata {
    let mut keys = keys_with_recording(schema, table, profile);
    keys.insert("unwind_perf.summary", summary_json(profile));
    if let Some(start) = start_utc_ns(profile) {
        keys.insert("unwind_perf.start_utc_ns", start.to_string());
    }
    keys
}
