//! `cargo lab programs`: programs of many languages, compilers, linkers, C libraries and run-time compilers, built and
//! recorded here. Reports how many of their stacks reach a root, by our program and by perf, and which of our frames
//! are proven wrong.
//!
//! A stack counts if its stack copy suffices, so that our chain does not end at the end of the copy. Repair from other
//! samples is switched off, so that each stack is judged on its own.

mod count;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use xtask::args::Args;
use xtask::command;
use xtask::machine::MOST_STACKS;

use crate::catalogue::{CATALOGUE, Settings, record};
use table::ProgramRow;

const RECORDED: Settings = Settings { options: MOST_STACKS, most: Duration::from_secs(4) };

/// Builds, records and counts the programs with a name or class that contains one of the words; without words, all.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let ours = command::ours(args.value("--ours")?)?;
    let keep = args.value("--keep")?.map(PathBuf::from);
    let wanted = args.names()?;
    let chosen: Vec<_> = CATALOGUE
        .iter()
        .filter(|program| {
            let is = |word: &String| program.name.contains(word) || program.class.contains(word);
            wanted.is_empty() || wanted.iter().any(is)
        })
        .collect();
    if chosen.is_empty() {
        bail!("no program's name or class contains {}", wanted.join(", "));
    }
    let work = std::env::temp_dir().join(format!("unwind-perf-programs-{}", std::process::id()));
    std::fs::create_dir_all(&work)?;
    let mut rows = Vec::new();
    let (mut skipped, mut failed) = (Vec::new(), Vec::new());
    for program in chosen {
        eprintln!("{}: {}", program.class, program.name);
        let file = match record(program, &RECORDED, &work) {
            Ok(Some(file)) => file,
            Ok(None) => {
                skipped.push(format!("{}: no {}", program.name, program.tool));
                continue;
            }
            Err(error) => {
                skipped.push(format!("{}: {error:#}", program.name));
                continue;
            }
        };
        if let Some(folder) = &keep {
            std::fs::create_dir_all(folder)?;
            let name = program.name.replace([' ', '/'], "-");
            std::fs::copy(&file, folder.join(format!("{name}.data")))?;
        }
        match count::count(&file, &ours) {
            Ok(counts) => rows.push(ProgramRow { program, counts }),
            Err(error) => failed.push(format!("{}: {error:#}", program.name)),
        }
    }
    std::fs::remove_dir_all(&work)?;
    table::print(&rows);
    for line in &skipped {
        println!("skipped: {line}");
    }
    for line in &failed {
        println!("failed: {line}");
    }
    let good = failed.is_empty() && rows.iter().all(|row| row.counts.wrong == 0);
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
