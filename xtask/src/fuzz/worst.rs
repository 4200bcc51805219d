//! The inputs with the highest observed cost per byte, in `fuzz/worst`, a folder for each target. They are replayed
//! before a target is fuzzed. An input that costs `LINE` times as much as when it was stored is a failure.
//!
//! Compares processor time: the lowest of several runs. `fuzz/worst/costs.tsv` has the costs of the stored inputs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::command;

/// Number of stored inputs of each target, and maximum size of each in bytes.
const KEPT: usize = 3;
const LONGEST: u64 = 8 << 10;
/// Factor to the stored cost at which an input fails; it allows for another processor or compiler.
const LINE: u64 = 10;
/// Cost in nanoseconds per byte that any input may have: below it, small changes are large factors.
const FREE: u64 = 200;
/// Bytes added to every input, as in `fuzz_targets/cost.rs`.
const BYTES_OF_ANY: u64 = 4096;
/// Number of runs of each input; the lowest cost counts.
const RUNS: &str = "-runs=3";

/// Variable with the folder for inputs that cost more than all earlier ones.
pub(super) const KEPT_IN: &str = "UNWIND_PERF_FUZZ_WORST";
/// Variable that enables the printing of costs.
const PRINTED: &str = "UNWIND_PERF_FUZZ_COSTS";

/// Returns the folder of the worst inputs of a target.
pub(super) fn folder(target: &str) -> PathBuf {
    all().join(target)
}

fn all() -> PathBuf {
    command::root().join("fuzz/worst")
}

/// Fails if an input costs far more than when it was stored. `run` is the command that runs the target on files.
pub(super) fn check(target: &str, run: Command) -> Result<()> {
    let kept = Costs::read()?;
    let files = files(&folder(target))?;
    if files.is_empty() {
        return Ok(());
    }
    for (file, cost) in measure(run, &files)? {
        let name = command::file_name(&file);
        let key = format!("{target}/{name}");
        let Some(before) = kept.0.get(&key) else {
            bail!(
                "fuzz/worst/costs.tsv has no cost of {key}: cargo xtask fuzz {target} 60 --worst"
            );
        };
        let line = (before * LINE).max(FREE);
        if cost > line {
            bail!(
                "fuzz/worst/{key} costs {cost} ns per byte; it cost {before}, the line is {line}"
            );
        }
    }
    Ok(())
}

/// Stores the inputs with the highest costs per byte, from the stored ones and those in other folders.
pub(super) fn renew(target: &str, run: Command, found: &[PathBuf]) -> Result<()> {
    let mut candidates = Vec::new();
    for folder in found.iter().chain([&folder(target)]) {
        candidates.extend(files(folder)?);
    }
    let mut measured = measure(run, &candidates)?;
    measured.sort_by_key(|(_, cost)| std::cmp::Reverse(*cost));
    let mut kept: Vec<(Vec<u8>, u64)> = Vec::new();
    for (file, cost) in measured {
        let bytes = std::fs::read(&file)?;
        let is_new = kept.iter().all(|(other, _)| *other != bytes);
        if kept.len() < KEPT && cost > 0 && is_new {
            kept.push((bytes, cost));
        }
    }
    let folder = folder(target);
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    let mut costs = Costs::read()?;
    costs.0.retain(|key, _| key.split('/').next() != Some(target));
    for (number, (bytes, cost)) in kept.into_iter().enumerate() {
        std::fs::write(folder.join(number.to_string()), &bytes)?;
        println!("{target}/{number}: {} bytes, {cost} ns per byte", bytes.len());
        costs.0.insert(format!("{target}/{number}"), cost);
    }
    costs.write()
}

/// Nanoseconds per byte of each stored input, by `TARGET/NAME`.
struct Costs(BTreeMap<String, u64>);

impl Costs {
    fn read() -> Result<Self> {
        let path = all().join("costs.tsv");
        if !path.exists() {
            return Ok(Self(BTreeMap::new()));
        }
        let text = std::fs::read_to_string(&path)?;
        let cost = |line: &str| {
            let (key, cost) = line.split_once('\t')?;
            Some((key.to_owned(), cost.parse().ok()?))
        };
        let costs: Option<_> = text.lines().map(cost).collect();
        Ok(Self(costs.with_context(|| format!("{} is damaged", path.display()))?))
    }

    fn write(&self) -> Result<()> {
        let lines = self.0.iter().map(|(key, cost)| format!("{key}\t{cost}\n"));
        Ok(std::fs::write(all().join("costs.tsv"), lines.collect::<String>())?)
    }
}

/// Returns the files of a folder that are short enough, in order.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let entry = entry?;
        if entry.metadata()?.len() <= LONGEST {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

/// Returns nanoseconds per byte of each file: the lowest of the runs.
fn measure(mut run: Command, files: &[PathBuf]) -> Result<Vec<(PathBuf, u64)>> {
    run.args(files).arg("--").args(super::LIMITS).arg(RUNS).env(PRINTED, "1");
    let output = run.output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let end: Vec<&str> = text.lines().rev().take(20).collect();
        bail!("{run:?} fails:\n{}", end.into_iter().rev().collect::<Vec<_>>().join("\n"));
    }
    let costs = lowest_costs(&text);
    let missing = |file: &Path| format!("no cost of {}", file.display());
    let of = |file: &PathBuf| costs.get(&*file.to_string_lossy()).copied();
    files.iter().map(|file| Ok((file.clone(), of(file).with_context(|| missing(file))?))).collect()
}

/// Returns nanoseconds per byte by file, from the lines `Running: FILE` and `cost: NANOSECONDS BYTES`.
fn lowest_costs(text: &str) -> BTreeMap<&str, u64> {
    let mut costs = BTreeMap::new();
    let mut file = "";
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("Running: ") {
            file = path;
        }
        let words = line.strip_prefix("cost: ").and_then(|it| it.split_once(' '));
        let numbers = words.map(|(spent, bytes)| (spent.parse::<u64>(), bytes.parse::<u64>()));
        if let Some((Ok(spent), Ok(bytes))) = numbers {
            let cost = spent / (bytes + BYTES_OF_ANY);
            costs
                .entry(file)
                .and_modify(|lowest: &mut u64| *lowest = cost.min(*lowest))
                .or_insert(cost);
        }
    }
    costs
}

#[cfg(test)]
mod tests {
    use super::lowest_costs;

    #[test]
    fn the_lowest_cost_of_each_file_counts() {
        let text = "INFO: seed\nRunning: a\ncost: 8192 0\ncost: 4096 0\nExecuted a in 1 ms\n\
                    Running: b\ncost: 819200 4096\nother: 1 2\ncost: x 1\n";
        assert_eq!(Vec::from_iter(lowest_costs(text)), [("a", 1), ("b", 100)]);
    }
}
