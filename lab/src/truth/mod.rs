//! `cargo lab truth`: compares our chains with the truth, or with the best available approximation.
//!
//! - `truth FILE`: copies of a recording with truncated stacks, compared with the complete one;
//! - `truth repairs`: the same for many recordings, made here if none is named, among them programs made to mislead;
//! - `truth withheld`: copies of the files without call frame information, compared with the originals;
//! - `truth gdb`: gdb's frames at random instructions, from the same registers and the same stack;
//! - `truth steps`: the calls, jumps and returns of a program that is run instruction by instruction.
//!
//! `cargo lab values` uses the recording of stops; no other task uses these modules.

mod alignment;
mod chains;
mod gdb;
mod recorded;
mod scratch;
mod stepped;
mod steps;
mod truncated;
mod unwound;
mod withheld;

use std::process::ExitCode;

use anyhow::Result;
use xtask::args::Args;

pub(crate) use stepped::{Recording, Stop, mappings};

/// Runs the kind that the first word names; any other word is a recording to truncate.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    match args.first(&["gdb", "repairs", "steps", "withheld"]) {
        Some("gdb") => gdb::run(args),
        Some("repairs") => truncated::repairs::run(args),
        Some("steps") => steps::run(args),
        Some(_) => withheld::run(args),
        None => truncated::run(args),
    }
}
