//! `cargo lab corpus FOLDER`: the records of every recording in a folder, counted by our program, by each named perf,
//! and by the format itself (`corpus/format.rs`).
//!
//! Prints a table; fails if any of the others counts more records of a type than our program.

mod format;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use xtask::args::Args;
use xtask::command;

use crate::json::Json;

/// Number of records by type number.
type Counts = BTreeMap<u64, u64>;

const SAMPLE: u64 = 9;
/// Time limit in seconds, after which a program counts as hanging.
const SECONDS: &str = "100";

/// Result of one reader.
struct Read {
    counts: Counts,
    /// Abnormal end, if any.
    end: Option<String>,
}

/// Counts, prints and compares.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let ours = command::ours(args.value("--ours")?)?;
    let mut perfs: Vec<String> = Vec::new();
    while let Some(perf) = args.value("--perf")? {
        perfs.push(perf);
    }
    if perfs.is_empty() {
        perfs.push("perf".to_owned());
    }
    let names = args.names()?;
    let [folder] = names.as_slice() else { bail!("a FOLDER with recordings is needed") };
    let mut files = Vec::new();
    recordings(Path::new(folder), &mut files)?;
    let mut head = "| recording |".to_owned();
    for perf in &perfs {
        head += &format!(" {} |", command::version_of(&format!("{perf} --version")));
    }
    println!("{head} the format | unwind-perf | |");
    println!("|---|{}", "---|".repeat(perfs.len() + 3));
    let mut missing = 0;
    for file in &files {
        let us = by_us(&ours, file)?;
        let peers = perfs.iter().map(|perf| by_perf(perf, file)).collect::<Result<Vec<_>>>()?;
        let by_format = format::count(&std::fs::read(file)?);
        let peers: Vec<Read> = peers.into_iter().chain([by_format]).collect();
        let mut row = format!("| {} |", short_name(file));
        for read in peers.iter().chain([&us]) {
            row += &format!(" {} |", cell(read));
        }
        // If both find damage, the record boundaries are ambiguous.
        let damaged = |peer: &Read| peer.end.is_some() && us.end.is_some();
        let lost = peers.iter().any(|peer| !damaged(peer) && is_behind(&us.counts, &peer.counts));
        missing += u32::from(lost);
        let verdict = if lost {
            differences(&us, &peers)
        } else if peers
            .iter()
            .any(|peer| peer.counts == us.counts || damaged(peer) && us.counts.is_empty())
        {
            "equal".to_owned()
        } else {
            more(&us, &peers)
        };
        println!("{row} {verdict} |");
    }
    println!("\n{} recordings, {missing} of which others read more of", files.len());
    Ok(if missing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Collects the recordings below a folder, sorted by name.
fn recordings(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            recordings(&path, found)?;
        } else if path.extension().is_none_or(|extension| extension != "md") {
            found.push(path);
        }
    }
    Ok(())
}

/// Returns a shortened file name: names that are digests are long.
fn short_name(path: &Path) -> String {
    command::file_name(path).chars().take(50).collect()
}

fn cell(read: &Read) -> String {
    let total: u64 = read.counts.values().sum();
    let samples = read.counts.get(&SAMPLE).copied().unwrap_or_default();
    let end = read.end.as_ref().map(|end| format!(", {end}")).unwrap_or_default();
    format!("{total} ({samples}){end}")
}

/// Returns true if the other one has more records of any type. No record has type 0; perf prints it when it gets lost.
fn is_behind(us: &Counts, other: &Counts) -> bool {
    other
        .iter()
        .filter(|(kind, _)| **kind > 0)
        .any(|(kind, count)| us.get(kind).copied().unwrap_or_default() < *count)
}

fn differences(us: &Read, peers: &[Read]) -> String {
    let mut text = Vec::new();
    for peer in peers {
        for (kind, &count) in &peer.counts {
            let ours = us.counts.get(kind).copied().unwrap_or_default();
            if ours < count && *kind > 0 {
                text.push(format!("type {kind}: {ours} of {count}"));
            }
        }
    }
    text.dedup();
    format!("**{}**", text.join(", "))
}

/// Returns the records that none of the others counts.
fn more(us: &Read, peers: &[Read]) -> String {
    let best = |kind| peers.iter().filter_map(|peer| peer.counts.get(kind).copied()).max();
    let more = us.counts.iter().filter_map(|(kind, &count)| {
        let more = count - best(kind).unwrap_or_default();
        (more > 0).then(|| format!("{more} of type {kind}"))
    });
    format!("more: {}", more.collect::<Vec<_>>().join(", "))
}

fn by_us(ours: &Path, file: &Path) -> Result<Read> {
    let mut command = Command::new("timeout");
    let output = command
        .arg(SECONDS)
        .arg(ours)
        .args(["info", "--json"])
        .arg(file)
        .output()
        .with_context(|| command::show(&command))?;
    let mut counts = Counts::new();
    if output.status.code() == Some(2) {
        let reported = String::from_utf8_lossy(&output.stderr);
        let reported = reported.trim_end().rsplit(": ").next().unwrap_or_default().to_owned();
        return Ok(Read { counts, end: Some(format!("refused: {reported}")) });
    }
    if !matches!(output.status.code(), Some(0 | 1)) {
        bail!("{}: {}", output.status, command::show(&command));
    }
    let text = String::from_utf8(output.stdout)?;
    let mut skipped = 0;
    Json::new(&text).object(|key, value| match key {
        "skipped_bytes" => {
            skipped = value.number()?;
            Ok(())
        }
        "records" => value.object(|_, count| {
            let (mut kind, mut records) = (0, 0);
            count.object(|key, value| {
                match key {
                    "type" => kind = value.number()?,
                    "records" => records = value.number()?,
                    _ => value.skip()?,
                }
                Ok(())
            })?;
            counts.insert(kind, records);
            Ok(())
        }),
        _ => value.skip(),
    })?;
    Ok(Read { counts, end: (skipped > 0).then(|| format!("{skipped} bytes skipped")) })
}

/// Counts the records that `perf script -D` dumps: each starts with a line `0xOFFSET [0xSIZE]: event: TYPE`.
fn by_perf(perf: &str, file: &Path) -> Result<Read> {
    let mut command = Command::new("timeout");
    command.args([SECONDS, perf, "script", "--force", "-D", "-i"]).arg(file).stdin(Stdio::null());
    let output = command.output().with_context(|| command::show(&command))?;
    let mut counts = Counts::new();
    let mut last = 0;
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let kind = line.rsplit_once("]: event: ").filter(|(place, _)| place.contains("0x"));
        if let Some(kind) = kind.and_then(|(_, kind)| kind.parse().ok()) {
            *counts.entry(kind).or_default() += 1;
            last = kind;
        }
    }
    // perf fails at the record that it dumped last.
    if let Some(count) = counts.get_mut(&last).filter(|_| !output.status.success()) {
        *count -= 1;
    }
    let end = match output.status.code() {
        Some(0) => None,
        Some(124) => Some("hangs".to_owned()),
        // `timeout` reports a signal by such a status.
        Some(status @ 129..160) => Some(format!("killed by signal {}", status - 128)),
        _ => Some("gives up".to_owned()),
    };
    Ok(Read { counts, end })
}
