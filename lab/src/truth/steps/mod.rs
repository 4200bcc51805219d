//! `cargo lab truth steps`: compares our chains with the true ones of programs that run instruction by instruction.

mod compare;
mod functions;
mod shadow;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use xtask::args::Args;
use xtask::command;

use crate::truth::scratch::Scratch;
use crate::truth::stepped::{
    Chain, Draw, Event, Kind, Program, Recording, Stepper, chains, chosen, mappings,
};
use compare::{Verdict, first_difference, verdict};
use functions::Functions;
use shadow::{Shadow, TrueFrame};

/// Number of instructions to draw from.
const INSTRUCTIONS: u64 = 100_000;
/// Average number of instructions per drawn one.
const MEAN: u64 = 37;
/// Number of programs that run if none is named: the first ones.
const PROGRAMS: usize = 6;
/// Maximum number of kinds of difference that are shown for a program.
const LINES: usize = 20;

/// The columns of the table.
const COLUMNS: [(&str, Verdict); 8] = [
    ("exact", Verdict::Exact),
    ("marked", Verdict::Marked),
    ("unstated", Verdict::Unstated),
    ("lacking", Verdict::Lacking),
    ("wrong", Verdict::Wrong),
    ("early", Verdict::Early),
    ("early, lacking", Verdict::EarlyLacking),
    ("early, wrong", Verdict::EarlyWrong),
];

/// Results for a program.
#[derive(Default)]
struct StepsRow {
    name: String,
    instructions: u64,
    samples: u64,
    with_jumps: u64,
    calls: u64,
    jumps: u64,
    irregular: u64,
    verdicts: BTreeMap<Verdict, u64>,
    /// Ends of chains that end early, and first differences.
    kinds: BTreeMap<String, (u64, String)>,
}

/// Steps, compares and prints.
pub(in crate::truth) fn run(mut args: Args) -> Result<ExitCode> {
    let count = args.number("--instructions", INSTRUCTIONS)?;
    let mean = args.number("--mean", MEAN)?;
    let seed = args.number("--seed", 1)?;
    let skip = args.number("--skip", 0_u64)?;
    let keep = args.value("--keep")?.map(PathBuf::from);
    let ours = command::ours(args.value("--ours")?)?;
    let names = args.names()?;
    let scratch = Scratch::new()?;
    let stepper = Stepper::compile(scratch.path())?;
    let draw = Draw { flow: true, skip: skip.to_string(), count, mean, seed };
    let mut rows = Vec::new();
    for program in chosen(&names, PROGRAMS)? {
        let folder = keep.as_deref().unwrap_or_else(|| scratch.path());
        match stepped(&program, &stepper, &draw, &ours, folder)? {
            Some(row) => rows.push(row),
            None => eprintln!("skipped: {}: no {}", program.name, program.tool),
        }
    }
    print(&rows);
    if rows.is_empty() {
        bail!("no program could be built");
    }
    let bad = [Verdict::Wrong, Verdict::EarlyWrong];
    let good = rows.iter().all(|row| bad.iter().all(|it| !row.verdicts.contains_key(it)));
    let short: Vec<_> = rows.iter().filter(|row| row.instructions < skip + count).collect();
    for row in &short {
        println!("{}: ended after {} of {} instructions", row.name, row.instructions, skip + count);
    }
    Ok(if good && short.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Steps a program, unwinds the drawn instructions, and compares. Returns `None` if it cannot be built.
fn stepped(
    program: &Program,
    stepper: &Stepper,
    draw: &Draw,
    ours: &Path,
    work: &Path,
) -> Result<Option<StepsRow>> {
    let Some(words) = program.prepare(work)? else { return Ok(None) };
    let mut row = StepsRow { name: program.name.clone(), ..StepsRow::default() };
    let (mut recording, mut truths) = (Recording::new(), Vec::new());
    let (mut functions, mut shadow) = (Functions::default(), Shadow::default());
    stepper.run(draw, &words, |event| {
        match event {
            Event::Maps(text) => {
                let maps = mappings(&text)?;
                recording.map(&maps);
                functions.map(maps)?;
            }
            Event::Step(step) => shadow.step(&step, &mut functions),
            Event::Stop(stop) => {
                recording.add(&stop);
                truths.push(shadow.chain());
            }
            Event::Signal(number) => bail!("signal {number}: handlers are not followed"),
            Event::End(instructions) => row.instructions = instructions,
        }
        Ok(())
    })?;
    (row.calls, row.jumps, row.irregular) = (shadow.total, shadow.jumps, shadow.irregular);
    let file = work.join(&program.name).join("steps.data");
    recording.write(&file)?;
    let found = chains(ours, &file)?;
    if found.len() != truths.len() {
        bail!("{} chains of {} drawn instructions", found.len(), truths.len());
    }
    for (number, (chain, truth)) in found.iter().zip(&truths).enumerate() {
        row.add(number, chain, truth, &mut functions);
    }
    Ok(Some(row))
}

impl StepsRow {
    fn add(&mut self, number: usize, ours: &Chain, truth: &[TrueFrame], functions: &mut Functions) {
        self.samples += 1;
        self.with_jumps += u64::from(truth.iter().any(|frame| frame.tail && !frame.optional));
        let verdict = verdict(ours, truth);
        *self.verdicts.entry(verdict).or_default() += 1;
        let (kind, places) = match verdict {
            Verdict::Exact | Verdict::Marked => return,
            Verdict::Early => {
                let last = ours.frames.last().map_or("", |frame| &frame.name);
                (format!("ends {} at {last}", ours.end), String::new())
            }
            _ => difference(verdict, ours, truth, functions),
        };
        let (count, example) = self.kinds.entry(kind).or_default();
        *count += 1;
        if example.is_empty() {
            *example = format!("sample {number}{places}");
        }
    }
}

/// Returns the first difference: names of functions, which form the kind, and addresses.
fn difference(
    verdict: Verdict,
    ours: &Chain,
    truth: &[TrueFrame],
    functions: &mut Functions,
) -> (String, String) {
    let at = first_difference(ours, truth);
    let inner = at.checked_sub(1).and_then(|at| ours.frames.get(at));
    let inner_name = inner.map_or("nothing", |frame| &frame.name);
    let (next, addr) = match ours.frames.get(at) {
        Some(frame) => (format!("{} ({})", frame.name, of(frame.kind)), frame.addr),
        None => (format!("the end ({})", ours.end), 0),
    };
    let mut places = format!(": {addr:#x};");
    let mut near = Vec::new();
    for frame in truth.iter().skip(at.saturating_sub(2)).take(4) {
        let jump = if frame.tail { " by a jump" } else { "" };
        near.push(format!("{}{jump}", functions.at(frame.addr).function));
        places.push_str(&format!(" {:#x}", frame.addr));
    }
    (format!("{verdict:?}: after {inner_name} comes {next}; near {}", near.join(", ")), places)
}

fn of(kind: Kind) -> &'static str {
    match kind {
        Kind::Plain => "called",
        Kind::Tail => "left by a jump",
        Kind::Tails => "jumps that are not known",
        Kind::Gap => "gap",
    }
}

fn print(rows: &[StepsRow]) {
    let heads = COLUMNS.map(|(name, _)| name).join(" | ");
    println!(
        "| program | instructions | calls | jumps | unwound | samples | with jumps | {heads} |"
    );
    println!("|---|{}", "--:|".repeat(COLUMNS.len() + 6));
    for row in rows {
        let numbers = COLUMNS.map(|(_, verdict)| {
            row.verdicts.get(&verdict).copied().unwrap_or_default().to_string()
        });
        println!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            row.name,
            row.instructions,
            row.calls,
            row.jumps,
            row.irregular,
            row.samples,
            row.with_jumps,
            numbers.join(" | ")
        );
    }
    for row in rows {
        let mut lines: Vec<_> = row.kinds.iter().collect();
        lines.sort_by_key(|&(kind, (count, _))| {
            let is_wrong = kind.starts_with("Wrong") || kind.starts_with("EarlyWrong");
            (!is_wrong, std::cmp::Reverse(count))
        });
        println!();
        for (kind, (count, example)) in lines.iter().take(LINES) {
            println!("{}: {count} {kind} ({example})", row.name);
        }
        if lines.len() > LINES {
            println!("{}: {} kinds more", row.name, lines.len() - LINES);
        }
    }
}
