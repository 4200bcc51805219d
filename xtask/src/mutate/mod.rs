//! `cargo xtask mutate`: damaged recordings, ELF files, bundles, lists, dumps and maps.
//! A release build of the command and a build with overflow checks read them, with limits of memory and processor time.
//!
//! An exit other than status 0, 1 or 2, a panic, and differing builds are failures. Their files are stored in
//! `target/mutate/kept`, as is that of a run that `--only` repeats. Silent changes are listed: another output than that
//! of the undamaged files with status 0 and without a finding. They are not failures, since a changed letter in a name
//! contradicts nothing; the table shows their locations.

mod byte_ranges;
mod damage;
mod inputs;
mod program;
mod tally;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, bail};

use crate::args::Args;
use crate::command;
use damage::{Damaged, Random};
use inputs::Input;
use program::{Ended, Program, RunResult};
use tally::{Fate, Tally};

/// Number of damaged inputs, with three runs each.
const RUNS: u64 = 1000;
const SEED: u64 = 1;
/// Commands and formats. One of them runs in addition on each input, by the build with overflow checks; only its
/// status counts.
const OTHERS: &[&str] = &[
    "info",
    "dump",
    "buildid-list",
    "maps --sysroot sysroot",
    "inject --sysroot sysroot -o output",
    "-q -o output --sysroot sysroot -f pprof",
    "-q -o output --sysroot sysroot -f flamegraph",
    "-q -o output --sysroot sysroot -f hotspot",
    "-q -o output --sysroot sysroot -f perf-script",
    "-q -o output --sysroot sysroot -f ndjson",
    "-q -o output --sysroot sysroot -f callgrind",
    "-q -o output --sysroot sysroot -f report",
];
/// Options of the runs with compared results.
const JSON: &str = "-q -o output -f json --max-memory 512M";

/// Damages inputs and runs the builds on them.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let runs = args.number("--runs", RUNS)?;
    let seed = args.number("--seed", SEED)?;
    let only = args.value("--only")?.map(|run| run.parse::<u64>().context("--only")).transpose()?;
    let checked = args.value("--checked")?;
    let ours = args.value("--ours")?;
    args.finish()?;
    let release = Program { path: command::ours(ours)? };
    let checked = Program { path: checked_build(checked)? };
    let folder = std::path::absolute(command::target())?.join("mutate");
    let task = Task { release, checked, seed, folder, keeps_all: only.is_some() };
    let numbers = only.map_or(0..runs, |only| only..only + 1);
    let done = task.run_all(&numbers)?;
    std::fs::write(task.folder.join("silent.tsv"), &done.silent)?;
    println!("{}", done.tally.table());
    for failure in &done.failures {
        println!("{failure}");
    }
    let n_failures = done.failures.len();
    let silent = task.folder.join("silent.tsv");
    println!("silent changes: {}", silent.display());
    println!("mutate: {} inputs, {} runs, {n_failures} failures", done.inputs, done.runs);
    Ok(if n_failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the build with overflow checks: the given one, or that of the development profile.
fn checked_build(given: Option<String>) -> Result<PathBuf> {
    if let Some(path) = given {
        return std::path::absolute(&path).with_context(|| path);
    }
    command::run(command::words("cargo build --package unwind-perf").current_dir(command::root()))?;
    Ok(std::path::absolute(command::target())?.join("debug/unwind-perf"))
}

struct Task {
    release: Program,
    checked: Program,
    seed: u64,
    folder: PathBuf,
    /// True to store each damaged file, not only those of failures.
    keeps_all: bool,
}

/// Results of all workers.
#[derive(Default)]
struct Done {
    tally: Tally,
    inputs: u64,
    runs: u64,
    failures: Vec<String>,
    /// A line for each silent change.
    silent: String,
}

/// Folder of a worker, and the results of undamaged files.
struct Worker<'t> {
    task: &'t Task,
    folder: PathBuf,
    inputs: Vec<Input>,
    undamaged: BTreeMap<usize, RunResult>,
}

impl Task {
    /// Runs all numbers, with a worker for each processor.
    fn run_all(&self, numbers: &Range<u64>) -> Result<Done> {
        let next = AtomicU64::new(numbers.start);
        let done = Mutex::new(Done::default());
        let n_workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let work = |worker: usize| -> Result<()> {
            let folder = self.folder.join(worker.to_string());
            let inputs = inputs::lay_out(&folder, &self.release)?;
            let mut worker = Worker { task: self, folder, inputs, undamaged: BTreeMap::new() };
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= numbers.end {
                    return Ok(());
                }
                worker.damage(number, &done).with_context(|| format!("run {number}"))?;
            }
        };
        let work = &work;
        std::thread::scope(|scope| {
            let workers: Vec<_> =
                (0..n_workers).map(|number| scope.spawn(move || work(number))).collect();
            workers.into_iter().try_for_each(|worker| match worker.join() {
                Ok(result) => result,
                Err(_) => bail!("a thread panicked"),
            })
        })?;
        done.into_inner().ok().context("a thread panicked")
    }
}

impl Worker<'_> {
    /// Damages one file, runs the builds, and restores the file.
    fn damage(&mut self, number: u64, done: &Mutex<Done>) -> Result<()> {
        let mut random = Random::new(self.task.seed, number);
        let at = random.below(self.inputs.len());
        let input = self.inputs.get(at).context("no input")?;
        let file = random.pick(&input.files).context("no file")?.clone();
        let bytes = std::fs::read(self.folder.join(&file))?;
        let places = byte_ranges::of(&bytes);
        let mut kinds: Vec<&str> = places.iter().map(|place| place.kind.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let kind = (*random.pick(&kinds).context("no bytes")?).to_owned();
        let ranges = places.iter().filter(|place| place.kind == kind).map(|place| &place.range);
        let ranges: Vec<_> = ranges.collect();
        let Some(damaged) = damage::damage(&bytes, &ranges, &mut random) else { return Ok(()) };
        self.know_undamaged(at)?;
        std::fs::write(self.folder.join(&file), &damaged.bytes)?;
        let ran = self.run(at, &mut random);
        std::fs::write(self.folder.join(&file), &bytes)?;
        let Ran { fate, runs, failures } = ran?;
        let mut done = done.lock().ok().context("a thread panicked")?;
        done.inputs += 1;
        done.runs += runs;
        if self.task.keeps_all || !failures.is_empty() {
            let kept = self.keep(number, &file, &damaged)?;
            println!(
                "run {number}: {kind}, {:?} at {:#x}: {}",
                damaged.damage,
                damaged.at,
                kept.display()
            );
        }
        let failed = failures.into_iter().map(|failure| format!("run {number}: {failure}"));
        done.failures.extend(failed);
        done.tally.add(&kind, fate);
        if matches!(fate, Fate::Silent | Fate::Account) {
            let Damaged { damage, at, .. } = &damaged;
            let (file, fate) = (file.display(), format!("{fate:?}").to_lowercase());
            let _ = writeln!(done.silent, "{number}\t{fate}\t{kind}\t{damage:?}\t{file}\t{at:#x}");
        }
        Ok(())
    }

    /// Computes the result of undamaged files, unless it is cached.
    fn know_undamaged(&mut self, at: usize) -> Result<()> {
        if self.undamaged.contains_key(&at) {
            return Ok(());
        }
        let ended = self.json(&self.task.release, at)?;
        let name = self.inputs.get(at).map(|input| input.name.clone()).unwrap_or_default();
        let result = ended.result().with_context(|| format!("{name}: {}", ended.messages))?;
        self.undamaged.insert(at, result);
        Ok(())
    }

    fn json(&self, program: &Program, at: usize) -> Result<Ended> {
        let input = self.inputs.get(at).context("no input")?;
        let options = JSON.split(' ').map(str::to_owned);
        let arguments: Vec<String> = input.arguments.iter().cloned().chain(options).collect();
        program.run(&arguments, &self.folder)
    }

    /// Runs both builds on an input with a damaged file.
    fn run(&self, at: usize, random: &mut Random) -> Result<Ran> {
        let (release, checked) =
            (self.json(&self.task.release, at)?, self.json(&self.task.checked, at)?);
        let mut ran = Ran { fate: self.fate(&release, at)?, runs: 2, failures: Vec::new() };
        for (ended, build) in [(&release, "release"), (&checked, "checked")] {
            if ended.has_failed() {
                ran.failures
                    .push(format!("{build} ended with {:?}: {}", ended.status, ended.messages));
            }
        }
        if ran.failures.is_empty()
            && (release.status, &release.output) != (checked.status, &checked.output)
        {
            ran.failures.push(format!("builds differ: {:?}, {:?}", release.status, checked.status));
        }
        let input = self.inputs.get(at).context("no input")?;
        if let Some(words) = random.pick(OTHERS) {
            let mut arguments: Vec<String> = words.split(' ').map(str::to_owned).collect();
            arguments.extend(input.arguments.first().cloned());
            let ended = self.task.checked.run(&arguments, &self.folder)?;
            ran.runs += 1;
            if ended.has_failed() {
                let (status, messages) = (ended.status, ended.messages);
                ran.failures.push(format!("{words} ended with {status:?}: {messages}"));
            }
        }
        Ok(ran)
    }

    /// Returns the outcome of a run, compared with that of undamaged files.
    fn fate(&self, ended: &Ended, at: usize) -> Result<Fate> {
        match ended.status {
            Some(0) => {}
            Some(1) => return Ok(Fate::Damage),
            _ => return Ok(Fate::Nothing),
        }
        let undamaged = self.undamaged.get(&at).context("no result")?;
        let result = ended.result().context("status 0 without a result")?;
        Ok(match &result {
            result if result == undamaged => Fate::Same,
            result if result.has_more_findings(undamaged) => Fate::Finding,
            result if result.accounts_otherwise(undamaged) => Fate::Account,
            _ => Fate::Silent,
        })
    }

    /// Stores a damaged file.
    fn keep(&self, number: u64, file: &Path, damaged: &Damaged) -> Result<PathBuf> {
        let folder = self.task.folder.join("kept");
        std::fs::create_dir_all(&folder)?;
        let name = command::file_name(file);
        let kept = folder.join(format!("{}-{number}-{name}", self.task.seed));
        std::fs::write(&kept, &damaged.bytes)?;
        Ok(kept)
    }
}

/// Outcomes of the runs of an input.
struct Ran {
    fate: Fate,
    runs: u64,
    failures: Vec<String>,
}
