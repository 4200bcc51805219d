//! The printers with a small profile that covers all features: exact bytes, schemas, documentation.
#![allow(clippy::disallowed_methods, reason = "tests read the repository's files")]

mod diff;
mod documented;
mod exact;
mod firefox;
mod hotspot;
mod large;
mod live;
mod merge;
mod names;
mod otlp;
mod page;
mod parquet_file;
mod profiles;
mod schema;
mod stacks;
mod stored;
mod summary_text;
mod support;

use formats::{Format, FormatOptions};
use profile::Profile;

/// Returns the output of a format.
fn printed(profile: &Profile, format: Format, options: FormatOptions) -> Vec<u8> {
    let mut out = Vec::new();
    format.printer(options).print(profile, &mut out).expect("a vector takes everything");
    out
}

/// Reads a file of the documentation.
fn document(name: &str) -> String {
    let path = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}
