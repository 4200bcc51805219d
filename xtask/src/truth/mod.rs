//! `cargo xtask truth FILE [--bytes N]`: what a smaller dump of the stack costs, and how good it is what is repaired.

mod cut;

use std::process::ExitCode;

use anyhow::Result;

use crate::args::Args;

/// Runs the comparison of a recording with copies whose stacks are cut.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    cut::run(args)
}
