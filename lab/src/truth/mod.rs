//! `cargo lab truth`: our chains beside the truth, or beside the best that is known of it.
//!
//! - `truth FILE`: copies of a recording whose stacks are cut, beside the whole one;
//! - `truth repairs`: the same of many recordings, made here if none is named, programs made to mislead among them;
//! - `truth withheld`: copies of the files without call frame information, beside the originals;
//! - `truth gdb`: gdb's frames at random instructions, from the same registers and the same stack;
//! - `truth steps`: the calls, jumps and returns of a program that is run instruction by instruction.
//!
//! No other task has a part in it.

mod alignment;
mod chains;
mod cut;
mod gdb;
mod recorded;
mod scratch;
mod stepped;
mod steps;
mod unwound;
mod withheld;

use std::process::ExitCode;

use anyhow::Result;
use xtask::args::Args;

/// Runs the kind that the first word names; without such a word it is a recording to be cut.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    match args.first(&["gdb", "repairs", "steps", "withheld"]) {
        Some("gdb") => gdb::run(args),
        Some("repairs") => cut::repairs::run(args),
        Some("steps") => steps::run(args),
        Some(_) => withheld::run(args),
        None => cut::run(args),
    }
}
