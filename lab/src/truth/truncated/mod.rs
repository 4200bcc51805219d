//! `cargo lab truth FILE [--bytes N]`: cost of a smaller stack dump, and quality of the repair.
//! The chains of a recording with large dumps are the truth. Copies of it with truncated stacks are unwound by our
//! program and by the repair rules of peers. With `--plain`, any recording: number of chains that reach their root, by
//! each.

mod peers;
mod plain;
pub(super) mod repairs;
mod table;
mod tally;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use xtask::args::Args;
use xtask::command;

use crate::compared;
use crate::strings::StringTable;
use crate::truth::chains::{Chains, FunctionsByAddress};
use crate::truth::scratch::Scratch;
use crate::truth::unwound::{NO_JOIN, pair_by_pair, unwound};
use tally::Tally;

/// Dump sizes that are tried, in bytes.
const SIZES: [u64; 4] = [4 << 10, 8 << 10, 16 << 10, 32 << 10];

/// Result for one size of the dump.
struct SizeRow {
    bytes: u64,
    ours: Tally,
    /// In the order of [`peers::RULES`]; empty if they are left out.
    peers: Vec<Tally>,
}

/// Whether the rules of peers are tried as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Peers {
    Tried,
    Omitted,
}

/// Truncates, runs, compares and prints a row for each size.
pub(in crate::truth) fn run(mut args: Args) -> Result<ExitCode> {
    let sizes = sizes(&mut args, &SIZES)?;
    let ours = args.value("--ours")?;
    let is_plain = args.flag("--plain");
    let names = args.names()?;
    let [file] = names.as_slice() else { bail!("one recording is needed") };
    let file = std::path::absolute(file)?;
    if file.is_dir() {
        bail!("{}: a recording in a directory cannot be cut, only a plain file", file.display());
    }
    let ours = command::ours(ours)?;
    if is_plain {
        plain::print(&ours, &file)?;
        return Ok(ExitCode::SUCCESS);
    }
    let scratch = Scratch::new()?;
    let rows = rows(&ours, &file, &sizes, &scratch.path().join("cut.data"), Peers::Tried)?;
    print(&rows);
    Ok(if are_wrong(&rows) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Returns the named sizes, or the usual ones.
fn sizes(args: &mut Args, usual: &[u64]) -> Result<Vec<u64>> {
    let mut sizes = Vec::new();
    while let Some(bytes) = args.value("--bytes")? {
        sizes.push(bytes.parse().with_context(|| format!("--bytes {bytes}"))?);
    }
    Ok(if sizes.is_empty() { usual.to_vec() } else { sizes })
}

/// Returns true if any of our chains is wrong without a gap.
fn are_wrong(rows: &[SizeRow]) -> bool {
    rows.iter().any(|row| row.ours.wrong_without_gap() > 0)
}

/// Returns a row for each size. Writes the truncated copies to `copy` one after another.
fn rows(
    ours: &Path,
    file: &Path,
    sizes: &[u64],
    copy: &Path,
    with_peers: Peers,
) -> Result<Vec<SizeRow>> {
    let mut words = StringTable::new();
    let mut recording = std::fs::read(file).with_context(|| file.display().to_string())?;
    let mut rows = Vec::new();
    let mut truth = None;
    // Large sizes first: each copy is truncated further.
    let mut sizes = sizes.to_vec();
    sizes.sort_unstable();
    for &bytes in sizes.iter().rev() {
        let cut = synth::truncate_stacks(&mut recording, bytes)
            .map_err(|why| anyhow!("{} cannot be cut: {why}", file.display()))?;
        eprintln!("{cut} stacks are cut to {bytes} bytes");
        // After the first truncation, so that a recording that cannot be truncated is not unwound.
        let truth = match &truth {
            Some(truth) => truth,
            None => {
                // Uses only data in the sample itself.
                let options = compared::options_of(ours, &[NO_JOIN])?;
                let chains = unwound(ours, file, &options, &mut words)?;
                truth.insert((FunctionsByAddress::of(&chains), chains))
            }
        };
        let (places, truth) = truth;
        std::fs::write(copy, &recording).with_context(|| copy.display().to_string())?;
        let found = unwound::<&str>(ours, copy, &[], &mut words)?;
        let ours = compare(truth, &found, &words)?;
        let mut peers = Vec::new();
        if with_peers == Peers::Tried {
            eprintln!("the rules of peers are tried on the same samples");
            for found in peers::chains(copy, truth, places, &mut words)? {
                peers.push(compare(truth, &found, &words)?);
            }
        }
        rows.push(SizeRow { bytes, ours, peers });
    }
    rows.reverse();
    Ok(rows)
}

/// Compares the samples of both in order.
fn compare(truth: &Chains, copy: &Chains, words: &StringTable) -> Result<Tally> {
    let mut tally = Tally::default();
    pair_by_pair((truth, copy), words, |truth, copy| tally.add(truth, copy))?;
    Ok(tally)
}

fn print(rows: &[SizeRow]) {
    print_table("Ours", rows, |row| &row.ours);
    for (index, (name, rule)) in peers::RULES.iter().enumerate() {
        println!();
        print_table(&format!("The rule of {name} on our walks: {rule}"), rows, |row| {
            &row.peers[index]
        });
    }
    println!("\nTwo numbers: of chains without a gap + of those with one.");
    for (name, meaning) in table::COLUMNS {
        println!("  {name:<16}{meaning}");
    }
    println!("{}", table::OF_PEERS);
    if let Some(row) = rows.first() {
        table::print_ends("not whole in the truth", &row.ours.ends_of_truth);
    }
}

/// Prints a table with a row for each size, and below it the end reasons of chains that stay truncated.
fn print_table(title: &str, rows: &[SizeRow], of: impl Fn(&SizeRow) -> &Tally) {
    println!("{title}:\n\n{}", table::head());
    for row in rows {
        println!("{}", table::row(row.bytes, of(row)));
    }
    if rows.iter().any(|row| !of(row).ends.is_empty()) {
        println!();
    }
    for row in rows {
        table::print_ends(&format!("stay cut at {} bytes", row.bytes), &of(row).ends);
    }
}
