//! What streams say beside their columns: what they are, and of which recording. The same facts as the default format's
//! first and last lines, in its words.

use arrow_schema::Metadata;
use profile::Profile;

use crate::formats::json::{recording_json, summary_json};

/// Counts up with changes that break readers.
const VERSION: &str = "1";

/// The keys of a stream: `schema` is the name of the layout, `table` that of the table.
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

/// The same, with the recording's header as JSON.
pub(super) fn keys_with_recording(schema: &str, table: &str, profile: &Profile) -> Metadata {
    let mut keys = keys(schema, table);
    keys.insert("unwind_perf.recording", recording_json(profile));
    keys
}

/// The same, with the account of the run, too.
pub(super) fn keys_with_account(schema: &str, table: &str, profile: &Profile) -> Metadata {
    let mut keys = keys_with_recording(schema, table, profile);
    keys.insert("unwind_perf.summary", summary_json(profile));
    keys
}
