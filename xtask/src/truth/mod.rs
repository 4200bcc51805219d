//! `cargo xtask truth FILE [--bytes N]`: what a smaller dump of the stack costs, and how good it is what is repaired.
//! The chains of a recording with large dumps are the truth; copies of it whose stacks are cut are unwound beside it.

mod alignment;
mod chains;
mod table;
mod tally;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, anyhow, bail};

use crate::args::Args;
use crate::command;
use crate::words::Words;
use chains::{Chains, read};
use tally::Tally;

/// Dumps that are tried, in bytes.
const SIZES: [u64; 4] = [4 << 10, 8 << 10, 16 << 10, 32 << 10];

/// More than a chain has; deep recursion is to be measured, too.
const MAX_FRAMES: &str = "100000";

/// Cuts, runs, compares and prints a row for each size.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let sizes = match args.number("--bytes", 0)? {
        0 => SIZES.to_vec(),
        bytes => vec![bytes],
    };
    let ours = args.value("--ours")?;
    let names = args.names()?;
    let [file] = names.as_slice() else { bail!("one recording is needed") };
    let file = std::path::absolute(file)?;
    if file.is_dir() {
        bail!("{}: a recording in a directory cannot be cut, only a plain file", file.display());
    }
    let ours = command::ours(ours)?;
    let scratch = std::env::temp_dir().join(format!("unwind-perf-truth-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).with_context(|| scratch.display().to_string())?;
    let rows = rows(&ours, &file, &sizes, &scratch.join("cut.data"));
    std::fs::remove_dir_all(&scratch).with_context(|| scratch.display().to_string())?;
    let rows = rows?;
    print(&rows);
    let wrong = rows.iter().any(|(_, tally)| tally.wrong_prefix + tally.whole_but_other > 0);
    Ok(if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// A row for each size. The copies are written to `copy` one after the other.
fn rows(ours: &Path, file: &Path, sizes: &[u64], copy: &Path) -> Result<Vec<(u64, Tally)>> {
    let mut words = Words::new();
    let mut recording = std::fs::read(file).with_context(|| file.display().to_string())?;
    let mut rows = Vec::new();
    let mut truth = None;
    // Large ones first: what is cut is cut further.
    let mut sizes = sizes.to_vec();
    sizes.sort_unstable();
    for &bytes in sizes.iter().rev() {
        let cut = synth::cut_stacks(&mut recording, bytes)
            .map_err(|why| anyhow!("{} cannot be cut: {why}", file.display()))?;
        eprintln!("{cut} stacks are cut to {bytes} bytes");
        // After the first cut, so that what cannot be cut is not unwound.
        let truth = match &truth {
            Some(truth) => truth,
            None => truth.insert(chains_of(ours, file, &mut words)?),
        };
        std::fs::write(copy, &recording).with_context(|| copy.display().to_string())?;
        let found = chains_of(ours, copy, &mut words)?;
        rows.push((bytes, compare(truth, &found, &words)?));
    }
    rows.reverse();
    Ok(rows)
}

fn chains_of(ours: &Path, recording: &Path, words: &mut Words) -> Result<Chains> {
    let mut command = Command::new(ours);
    command.args(["--format", "ndjson", "--no-inline", "--quiet", "--max-frames", MAX_FRAMES]);
    command.arg(recording);
    command::read_output(&mut command, &[0, 1], |output| read(output, words))
}

/// The samples of both in their order.
fn compare(truth: &Chains, copy: &Chains, words: &Words) -> Result<Tally> {
    if truth.len() != copy.len() {
        bail!("{} samples, and {} where stacks are cut", truth.len(), copy.len());
    }
    let mut tally = Tally::default();
    for (number, (one, other)) in truth.iter(words).zip(copy.iter(words)).enumerate() {
        if one.0 != other.0 {
            bail!("sample {number} is {:?}, and {:?} where stacks are cut", one.0, other.0);
        }
        tally.add(&one.1, &other.1);
    }
    Ok(tally)
}

fn print(rows: &[(u64, Tally)]) {
    println!("{}", table::head());
    for (bytes, tally) in rows {
        println!("{}", table::row(*bytes, tally));
    }
    println!("\nTwo numbers: of chains without a gap + of those with one.");
    for (name, meaning) in table::COLUMNS {
        println!("  {name:<16}{meaning}");
    }
    if let Some((_, tally)) = rows.first() {
        print_ends("not whole in the truth", &tally.ends_of_truth);
    }
    for (bytes, tally) in rows {
        print_ends(&format!("stay cut at {bytes} bytes"), &tally.ends);
    }
}

fn print_ends(which: &str, ends: &BTreeMap<String, u64>) {
    if !ends.is_empty() {
        let ends: Vec<String> = ends.iter().map(|(end, count)| format!("{count} {end}")).collect();
        println!("{which}: {}", ends.join(", "));
    }
}
