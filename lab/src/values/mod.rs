//! `cargo lab values`: compares our values of parameters and locals with gdb's, from the same registers and stack.
//!
//! Programs of `testdata/programs/values` are stopped at random instructions. gdb states the variables of all frames
//! of the program's own functions. Ours are read twice:
//!
//! - from a recording of the stops, one sample each: the registers of the innermost frame, the stack from the stack
//!   pointer upwards, and the mappings with build-ids; by a run of the product with a request for each variable;
//! - from the registers that gdb restores for each frame, the same stack, and the read-only data of the file. Registers
//!   that a call may change are withheld from callers. This covers the outer frames of recursive functions, too.
//!
//! With a file and names of functions, their variables are listed.

mod compare;
mod image;
mod list;
mod programs;
mod replayed;
mod requests;
mod tally;
mod theirs;
mod verdict;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use xtask::args::Args;

use requests::Requests;
use tally::Tally;

/// Number of stops of a program.
const STOPS: u64 = 200;
/// Maximum number of lines about values that only one states.
const LINES: usize = 12;
/// The same with `-v`.
const ALL_LINES: usize = 1000;

/// Builds, stops, compares and prints.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let stops = args.number("--stops", STOPS)?;
    let keep = args.value("--keep")?.map(PathBuf::from);
    let verbose = args.flag("-v");
    let names = args.names()?;
    if let Some((file, functions)) = names.split_first().filter(|(file, _)| file.contains('/')) {
        return list::run(Path::new(file), functions);
    }
    let scratch = std::env::temp_dir().join(format!("unwind-perf-values-{}", std::process::id()));
    let folder = keep.clone().unwrap_or_else(|| scratch.clone());
    std::fs::create_dir_all(&folder)?;
    let folder = std::fs::canonicalize(folder)?;
    let (mut replayed, mut rows) = (Vec::new(), Vec::new());
    for program in programs::chosen(&names)? {
        let Some(built) = program.build(&folder)? else {
            eprintln!("skipped: {}: no {}", program.name, program.tool);
            continue;
        };
        let run = theirs::values(&built, stops)?;
        let mut requests = Requests::of(&run);
        let tally = compare::compare(&built.file, &run, &mut requests, verbose)?;
        rows.push((program.name, tally));
        let tally = replayed::compare(&built.file, &run, &requests, verbose);
        replayed.push((program.name, tally.context(program.name)?));
    }
    if keep.is_none() {
        // Files that cannot be removed stay in the system's temporary folder.
        let _ = std::fs::remove_dir_all(&scratch);
    }
    if rows.is_empty() {
        bail!("no program could be built");
    }
    let most = if verbose { ALL_LINES } else { LINES };
    println!("Through a recording:\n");
    print(&replayed, most);
    println!("\nBy the registers that gdb restores:\n");
    print(&rows, most);
    let differ = replayed.iter().chain(&rows).any(|(_, tally)| tally.differ > 0);
    Ok(if differ { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Column of the table.
type Column = (&'static str, fn(&Tally) -> u64);
const COLUMNS: [Column; 11] = [
    ("stops", |it| it.stops),
    ("frames", |it| it.frames),
    ("of gdb alone", |it| it.frames_alone),
    ("outer", |it| it.outer),
    ("variables", |it| it.variables),
    ("of gdb", |it| it.theirs()),
    ("of ours", |it| it.ours()),
    ("equal", |it| it.equal),
    ("gdb alone", |it| it.theirs_alone),
    ("ours alone", |it| it.ours_alone),
    ("differ", |it| it.differ),
];

fn print(rows: &[(&str, Tally)], most: usize) {
    let heads = COLUMNS.map(|(name, _)| name).join(" | ");
    println!("| program | {heads} |\n|---|{}", "--:|".repeat(COLUMNS.len()));
    let mut sum = Tally::default();
    for (name, tally) in rows {
        let numbers = COLUMNS.map(|(_, of)| of(tally).to_string()).join(" | ");
        println!("| {name} | {numbers} |");
        sum.add(tally);
    }
    let numbers = COLUMNS.map(|(_, of)| of(&sum).to_string()).join(" | ");
    println!("| all | {numbers} |");
    for (name, tally) in rows.iter().map(|(name, tally)| (*name, tally)).chain([("all", &sum)]) {
        println!();
        for (head, lines) in [("gdb alone", &tally.reasons), ("note", &tally.notes)] {
            let mut lines: Vec<_> = lines.iter().collect();
            lines.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
            for (line, count) in lines.iter().take(most) {
                println!("{name}: {head}: {count} {line}");
            }
        }
    }
}
