//! `cargo lab truth withheld [FILE|PROGRAM]...`: compares chains without call frame information with those with it.
//!
//! The chains that reach their root by the original files are the truth. Then copies replace the files (`--module`);
//! only the names of their sections that describe frames differ. Tail calls are left out of both, because the true ones
//! are unknown here; `truth steps` compares them.

mod compare;
mod copies;
mod table;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use xtask::args::Args;
use xtask::command;

use crate::strings::StringTable;
use crate::truth::recorded::{Recorded, each};
use crate::truth::unwound::{NO_JOIN, pair_by_pair, unwound};
use compare::Tally;
use copies::{Copy, copies, proven};

/// Programs that are recorded if none is named.
const PROGRAMS: &[&str] = &[
    "gcc -O2",
    "gcc -static",
    "clang, lld",
    "g++ -O2",
    "clang++ -O2",
    "rustc -O",
    "CPython",
    "Perl",
    "openssl sha512",
    "xz",
    "zstd",
    "sqlite3",
    "git",
    "gcc (cc1plus)",
    "rustc itself",
    "node",
];

/// Files that are replaced by copies: a name for the table, and a predicate.
type Set = (&'static str, fn(&Copy) -> bool);
const SETS: [Set; 2] = [("all but the C library", |copy| !copy.is_c_library()), ("all", |_| true)];

/// Chains of a recording without the call frame information of some files.
struct WithheldRow {
    recording: String,
    withheld: &'static str,
    files: usize,
    tally: Tally,
}

/// Records, unwinds both variants, compares and prints.
pub(in crate::truth) fn run(mut args: Args) -> Result<ExitCode> {
    let keep = args.value("--keep")?.map(std::path::PathBuf::from);
    let ours = command::ours(args.value("--ours")?)?;
    let names = args.names()?;
    let mut rows = Vec::new();
    each(&names, PROGRAMS, keep.as_deref(), |recorded| {
        rows.extend(compared(&ours, recorded)?);
        Ok(())
    })?;
    table::print(&rows);
    let wrong = rows.iter().any(|row| row.tally.is_wrong());
    Ok(if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Returns a row for each set of files.
fn compared(ours: &Path, recorded: &Recorded) -> Result<Vec<WithheldRow>> {
    let nothing = recorded.folder.join("nothing");
    std::fs::create_dir_all(&nothing)?;
    // Separate debug files and stored copies may describe frames as well.
    let mut options: Vec<OsString> = [NO_JOIN, "--no-tail-calls"].map(OsString::from).into();
    let mut places: Vec<OsString> = Vec::new();
    for option in ["--debug-dir", "--buildid-dir"] {
        places.extend([OsString::from(option), nothing.clone().into()]);
    }
    options.extend(places.iter().cloned());
    let copies = copies(ours, &recorded.file, &places, &recorded.folder.join("withheld"))?;
    let mut words = StringTable::new();
    let truth = unwound(ours, &recorded.file, &options, &mut words)?;
    let mut rows: Vec<WithheldRow> = Vec::new();
    for (withheld, is_in) in SETS {
        let chosen: Vec<&Copy> = copies.iter().filter(|copy| is_in(copy)).collect();
        if chosen.is_empty() || rows.last().is_some_and(|row| row.files == chosen.len()) {
            continue;
        }
        let modules: Vec<OsString> = chosen.iter().flat_map(|copy| copy.option()).collect();
        proven(ours, &recorded.file, &[&places[..], &modules].concat(), &chosen)?;
        let options = [&options[..], &modules].concat();
        let found = unwound(ours, &recorded.file, &options, &mut words)?;
        let mut tally = Tally::default();
        pair_by_pair((&truth, &found), &words, |truth, found| tally.add(truth, found, &words))?;
        let recording = recorded.name.clone();
        rows.push(WithheldRow { recording, withheld, files: chosen.len(), tally });
    }
    Ok(rows)
}
