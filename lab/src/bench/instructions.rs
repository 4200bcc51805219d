//! `cargo lab bench --instructions`: instructions of each stage of a run, counted by valgrind's callgrind with one job.
//! Other programs on the machine do not change the counts, so they show differences that are too small for times.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use xtask::command;

use super::page::Part;

use crate::compare;

/// A stage of a run: the cost of one of our functions with its callees.
struct Stage {
    name: &'static str,
    /// Its functions, by their names without arguments. None of them calls another one.
    functions: &'static [&'static str],
    /// True if it is part of the previous stage, or of several stages, and so not added to the sum.
    is_part: bool,
}

const fn stage(name: &'static str, functions: &'static [&'static str]) -> Stage {
    Stage { name, functions, is_part: false }
}

const fn part(name: &'static str, functions: &'static [&'static str]) -> Stage {
    Stage { name, functions, is_part: true }
}

const WALK: &str = "walk";
const RULES: &str = "of that, making rules";

/// Stages in the order of a run.
const STAGES: &[Stage] = &[
    stage("scan", &["perf_data::session::reading::read"]),
    stage("plan", &["replay::plan::planner::Planner::next_chunk"]),
    part("of that, reading ahead", &["replay::plan::look_ahead::LookAhead::fill"]),
    stage(WALK, &["replay::slice::walk::walk_slice"]),
    part(
        "of that, making spaces",
        &["module_map::process::waiting::lazy_space::LazySpace::make_all"],
    ),
    part(RULES, &["unwinder::engine::Engine::make_rule"]),
    stage(
        "repair",
        &[
            "replay::repair::window::Window::find",
            "replay::repair::window::extend",
            "replay::repair::repaired::RepairedSlice::of",
        ],
    ),
    stage("merge", &["replay::driver::merge::MergedTables::add"]),
    stage("symbolize", &["pipeline::runs::whole::<impl pipeline::runs::run::Run>::symbolize"]),
    part("of that, unpacking", &["image_store::elf::compression::inflate"]),
    part("of that, symbol tables", &["symbolizer::elf::symbols::lookup"]),
    part("of that, demangling", &["demangle::symbol::demangle_in"]),
    part(
        "of that, the kernel's list",
        &["pipeline::names::kernel_list::<impl pipeline::names::Sources>::kernel_names"],
    ),
    stage("print", &["unwind_perf::terminal::target::print_profile"]),
];

/// Counts of one recording.
pub(super) struct Counted {
    name: String,
    samples: usize,
    frames: usize,
    all: u64,
    /// Instructions of each stage.
    stages: Vec<u64>,
}

/// Returns a program with function names, which a release lacks.
pub(super) fn program(given: Option<&str>) -> Result<PathBuf> {
    if let Some(path) = given {
        return std::path::absolute(path).with_context(|| path.to_owned());
    }
    let mut build = command::words("cargo build --profile profiling --package unwind-perf");
    command::run(build.current_dir(command::root()))?;
    Ok(std::path::absolute(command::target().join("profiling/unwind-perf"))?)
}

/// Counts the instructions for one recording; callgrind's own file goes into the folder `data`.
pub(super) fn count(name: &str, file: &Path, program: &Path, data: &Path) -> Result<Counted> {
    let (samples, frames) = compare::count("ours", file, Some(program))?;
    let profile = data.join(format!("{name}.callgrind"));
    let mut run = command::words("valgrind --quiet --tool=callgrind");
    let mut to = std::ffi::OsString::from("--callgrind-out-file=");
    to.push(&profile);
    run.arg(to).arg(program).args(["--quiet", "--jobs", "1", "--no-cache"]).arg(file);
    run.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    command::announce(&run);
    // A damaged recording changes the exit status, which does not matter here.
    run.status().with_context(|| command::show(&run))?;
    let mut annotate = Command::new("callgrind_annotate");
    annotate.args(["--inclusive=yes", "--threshold=100"]).arg(&profile);
    let text = command::output(&mut annotate)?;
    let costs = costs(&text);
    let all = *costs.get("PROGRAM TOTALS").context("callgrind_annotate has no sum")?;
    let stages = STAGES.iter().map(|stage| of(stage, &costs)).collect::<Result<_>>()?;
    Ok(Counted { name: name.to_owned(), samples, frames, all, stages })
}

/// Returns the instructions of functions with their callees, by name.
fn costs(annotated: &str) -> BTreeMap<&str, u64> {
    let mut costs = BTreeMap::new();
    for line in annotated.lines() {
        // `1,234 (5.67%)  FILE:NAME [OBJECT]`, or the total, which has no file.
        let Some((number, rest)) = line.trim_start().split_once(" (") else { continue };
        let Ok(count) = number.replace(',', "").parse::<u64>() else { continue };
        let Some((_, name)) = rest.split_once(") ") else { continue };
        let name = name.split(" [").next().unwrap_or_default().trim();
        // The file ends at the first colon that is not part of `::`.
        let name = match name.find(':') {
            Some(at) if !name[at..].starts_with("::") => &name[at + 1..],
            _ => name,
        };
        // A function has a line for each file that contains code of it.
        let known = costs.entry(name).or_insert(0);
        *known = count.max(*known);
    }
    costs
}

fn of(stage: &Stage, costs: &BTreeMap<&str, u64>) -> Result<u64> {
    let mut sum = 0;
    for function in stage.functions {
        match costs.get(function) {
            Some(count) => sum += count,
            // A stage that a recording does not need is not called.
            None if stage.is_part => {}
            None => bail!("{}: no function {function}; is it called otherwise now?", stage.name),
        }
    }
    Ok(sum)
}

/// Returns the table of all counts for the page.
pub(super) fn table(machine: &str, all: &[Counted]) -> Part {
    let mut text = format!("{}\n\n| % of the instructions |", machine.trim_end());
    for counted in all {
        let _ = write!(text, " {} |", counted.name);
    }
    let _ = write!(text, "\n|---|{}", "--:|".repeat(all.len()));
    let mut row = |name: &str, digits: usize, value: &dyn Fn(&Counted) -> f64| {
        let _ = write!(text, "\n| {name} |");
        for counted in all {
            let _ = write!(text, " {:.digits$} |", value(counted));
        }
    };
    for (at, stage) in STAGES.iter().enumerate() {
        row(stage.name, 1, &|counted| {
            counted.share(counted.stages.get(at).copied().unwrap_or_default())
        });
    }
    row("all else", 1, &|counted| counted.share(counted.rest()));
    row("all, millions", 1, &|counted| counted.all as f64 / 1e6);
    row("walk without making rules, a user frame", 0, &Counted::a_frame);
    row("all, a sample", 0, &Counted::a_sample);
    Part { name: "counted", text }
}

impl Counted {
    fn stage(&self, name: &str) -> u64 {
        let stages = STAGES.iter().zip(&self.stages);
        stages.filter(|(stage, _)| stage.name == name).map(|(_, count)| count).sum()
    }

    fn rest(&self) -> u64 {
        let stages = STAGES.iter().zip(&self.stages).filter(|(stage, _)| !stage.is_part);
        self.all.saturating_sub(stages.map(|(_, count)| count).sum())
    }

    fn share(&self, count: u64) -> f64 {
        count as f64 * 100.0 / self.all.max(1) as f64
    }

    fn a_frame(&self) -> f64 {
        let walk = self.stage(WALK).saturating_sub(self.stage(RULES));
        walk as f64 / self.frames.max(1) as f64
    }

    fn a_sample(&self) -> f64 {
        self.all as f64 / self.samples.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANNOTATED: &str = "\
9,000 (100.0%)  PROGRAM TOTALS
8,000 (88.88%)  ???:replay::slice::walk::walk_slice [/x/unwind-perf]
7,000 (77.77%)  /rustc/src/boxed.rs:replay::slice::walk::walk_slice
1,500 (16.66%)  ???:<a::B as c::D>::e [/x/unwind-perf]
";

    #[test]
    fn functions_are_found_whatever_file_they_are_in() {
        let costs = costs(ANNOTATED);
        assert_eq!(costs.get("PROGRAM TOTALS"), Some(&9000));
        assert_eq!(costs.get("replay::slice::walk::walk_slice"), Some(&8000));
        assert_eq!(costs.get("<a::B as c::D>::e"), Some(&1500));
    }

    #[test]
    fn a_stage_that_is_not_found_is_an_error_and_a_part_is_none() {
        let costs = costs(ANNOTATED);
        assert_eq!(of(&stage(WALK, &["replay::slice::walk::walk_slice"]), &costs).unwrap(), 8000);
        assert!(of(&stage("merge", &["nowhere"]), &costs).is_err());
        assert_eq!(of(&part("unpacking", &["nowhere"]), &costs).unwrap(), 0);
    }

    #[test]
    fn what_no_stage_has_is_a_row_of_its_own() {
        let stages =
            STAGES.iter().map(|stage| if stage.name == WALK { 8000 } else { 10 }).collect();
        let counted = Counted { name: "x".to_owned(), samples: 4, frames: 10, all: 9000, stages };
        assert_eq!(counted.rest(), 9000 - 8000 - 6 * 10);
        assert_eq!(counted.a_frame(), 799.0);
        let text = table("machine", &[counted]).text;
        assert!(text.contains("| walk | 88.9 |"), "{text}");
        assert!(text.ends_with("| all, a sample | 2250 |"), "{text}");
    }
}
