//! `cargo lab truth gdb`: compares our frames with gdb's, at random instructions, from the same registers and stack.
//!
//! A program is run instruction by instruction, and some instructions are drawn. gdb stops the program at its entry;
//! then each stop's registers and stack are written into it.

mod compare;
mod theirs;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use xtask::args::Args;
use xtask::command;

use crate::truth::scratch::Scratch;
use crate::truth::stepped::{
    CATALOGUE, Draw, Event, Program, Recording, Stepper, Stop, chains, chosen, mappings,
};
use compare::Tally;

/// Number of stops of a program.
const STOPS: u64 = 500;
/// Average number of instructions per stop: the programs run some hundred thousand.
const MEAN: u64 = 700;
/// Maximum number of lines about frames that only one states.
const LINES: usize = 40;

/// Stops, compares and prints.
pub(in crate::truth) fn run(mut args: Args) -> Result<ExitCode> {
    let stops = args.number("--stops", STOPS)?;
    let mean = args.number("--mean", MEAN)?;
    let seed = args.number("--seed", 1)?;
    let skip = args.value("--skip")?;
    let keep = args.value("--keep")?.map(std::path::PathBuf::from);
    let ours = command::ours(args.value("--ours")?)?;
    let names = args.names()?;
    let scratch = Scratch::new()?;
    let stepper = Stepper::compile(scratch.path())?;
    let mut rows = Vec::new();
    for program in chosen(&names, CATALOGUE.len())? {
        let skip = skip.clone().unwrap_or_else(|| program.skip.to_owned());
        // The distance of stops varies, so that twice as many instructions are run and the first stops are used.
        let draw = Draw { flow: false, skip, count: stops * mean * 2, mean, seed };
        let folder = keep.as_deref().unwrap_or_else(|| scratch.path());
        match compared(&program, &stepper, &draw, stops, &ours, folder)? {
            Some(tally) => rows.push((program.name, tally)),
            None => eprintln!("skipped: {}: no {}", program.name, program.tool),
        }
    }
    print(&rows);
    if rows.is_empty() {
        bail!("no program could be built");
    }
    let differ = rows.iter().any(|(_, tally)| tally.differ > 0);
    let short: Vec<_> = rows.iter().filter(|(_, tally)| tally.stops < stops).collect();
    for (name, tally) in &short {
        println!("{name}: {} of {stops} stops", tally.stops);
    }
    Ok(if differ || !short.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Steps a program, makes both unwind the stops, and compares. Returns `None` if it cannot be built.
fn compared(
    program: &Program,
    stepper: &Stepper,
    draw: &Draw,
    most: u64,
    ours: &Path,
    work: &Path,
) -> Result<Option<Tally>> {
    let Some(words) = program.prepare(work)? else { return Ok(None) };
    let folder = work.join(&program.name);
    let mut recording = Recording::new();
    let (mut stops, mut maps) = (Vec::<Stop>::new(), Vec::new());
    stepper.run(draw, &words, |event| {
        match event {
            Event::Maps(text) => {
                maps = mappings(&text)?;
                recording.map(&maps);
            }
            Event::Stop(stop) if recording.len() < most => {
                recording.add(&stop);
                stops.push(stop);
            }
            _ => {}
        }
        Ok(())
    })?;
    let file = folder.join("stops.data");
    recording.write(&file)?;
    let gdb = theirs::chains(&words, &stops, &maps, &folder)?;
    let ours = chains(ours, &file)?;
    if ours.len() != gdb.len() {
        bail!("{} chains of ours, {} of gdb", ours.len(), gdb.len());
    }
    let mut tally = Tally::default();
    for (one, other) in ours.iter().zip(&gdb) {
        tally.add(one, other);
    }
    Ok(Some(tally))
}

/// Column of the table.
type Column = (&'static str, fn(&Tally) -> u64);
const COLUMNS: [Column; 12] = [
    ("stops", |tally| tally.stops),
    ("frames of both", |tally| tally.both),
    ("jumps of both", |tally| tally.tails_both),
    ("jumps of ours", |tally| tally.tails_ours),
    ("of gdb, marked", |tally| tally.tails_marked),
    ("jumps of gdb", |tally| tally.tails_gdb),
    ("ours early", |tally| tally.ours_early),
    ("gdb early", |tally| tally.gdb_early),
    ("differ", |tally| tally.differ),
    ("unique", |tally| tally.unique),
    ("several", |tally| tally.several),
    ("mark alone", |tally| tally.unknown),
];

fn print(rows: &[(String, Tally)]) {
    let heads = COLUMNS.map(|(name, _)| name).join(" | ");
    println!("| program | {heads} |\n|---|{}", "--:|".repeat(COLUMNS.len()));
    for (name, tally) in rows {
        let numbers = COLUMNS.map(|(_, of)| of(tally).to_string()).join(" | ");
        println!("| {name} | {numbers} |");
    }
    for (name, tally) in rows {
        let mut lines: Vec<_> = tally.alone.iter().collect();
        lines.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        println!();
        for (place, count) in lines.iter().take(LINES) {
            println!("{name}: {count} {place}");
        }
        if lines.len() > LINES {
            println!("{name}: {} kinds more", lines.len() - LINES);
        }
    }
}
