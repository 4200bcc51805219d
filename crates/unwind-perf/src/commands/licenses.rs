//! `unwind-perf --licenses`: the licences of the program, and the notices of the libraries that are linked into it.

use std::io::Write as _;

use anyhow::Context as _;

use crate::terminal::Status;

/// The project's own licences, and the notices that `cargo xtask licenses` writes. They are pages of the program's file
/// that no other command reads.
const TEXTS: [&str; 4] = [
    "unwind-perf is licensed under either of the Apache License 2.0 or the MIT licence, at your option.\n\n",
    include_str!("../../LICENSE-MIT"),
    include_str!("../../LICENSE-APACHE"),
    include_str!("../../THIRD-PARTY-LICENSES.txt"),
];

/// Prints them.
pub(crate) fn run() -> anyhow::Result<Status> {
    let mut out = std::io::stdout().lock();
    for text in TEXTS {
        out.write_all(text.as_bytes()).context("cannot write to standard output")?;
    }
    out.flush().context("cannot write to standard output")?;
    Ok(Status::Complete)
}
