//! `unwind-perf --licenses`: the licences of the program, and the notices of the libraries that are linked into it.

use super::print;
use crate::terminal::Status;

/// The project's own licences, and the notices that `cargo xtask licenses` writes. They are pages of the program's file
/// that no other command reads.
const TEXTS: [&str; 4] = [
    "unwind-perf is licensed under either of the Apache License 2.0 or the MIT licence, at your option.\n\n",
    include_str!("../../../LICENSE-MIT"),
    include_str!("../../../LICENSE-APACHE"),
    include_str!("../../../THIRD-PARTY-LICENSES.txt"),
];

/// Prints them.
pub(crate) fn licenses() -> anyhow::Result<Status> {
    print(TEXTS.concat().as_bytes())
}
