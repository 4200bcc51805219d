//! The table of a benchmark, and its position in the documentation.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Result;
use xtask::command;
use xtask::machine::cpu_model;

use super::measure::{Usage, median};
use super::page::{self, Part};
use super::{Measured, ToolRuns};

/// Name of the page's part with the tables.
const MEASURED: &str = "measured";

/// Returns the state of the machine before the measurement, including its load.
pub(super) fn state() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    let commit = command::version_of("git describe --always --dirty");
    format!("Measured at commit {commit}; load before: {load}.")
}

/// Returns the description of the machine and the versions.
pub(super) fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let governor = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    let governor = governor.map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned());
    let mut text = String::new();
    let mut line = |name: &str, value: &str| text.push_str(&format!("- {name}: {value}\n"));
    line("processor", &format!("{}, {cores} cores, governor {governor}", cpu_model()));
    line("kernel", &command::version_of("uname -r"));
    line("compiler", &command::version_of("rustc --version"));
    line("perf", &command::version_of("perf --version"));
    text
}

/// Returns the section of a recording. `state` is the earlier result of [`state`].
pub(super) fn section(state: &str, result: &Measured) -> String {
    let mut text = String::new();
    let ours = result.rows.iter().find(|row| !row.is_unit).and_then(Middle::of);
    let per_sample = result.frames as f64 / result.samples.max(1) as f64;
    let runs = result.rows.iter().map(|row| row.usages.len()).max().unwrap_or_default();
    let _ = writeln!(
        text,
        "### {}\n\n{:.1} MB, {} samples, {} user frames ({per_sample:.1} a sample). Medians of {runs} runs. {state}\n",
        result.name,
        result.bytes as f64 / 1e6,
        result.samples,
        result.frames,
    );
    text.push_str("| program | wall s (spread) | cpu s | × ours | peak MB (anonymous) |\n");
    text.push_str("|---|--:|--:|--:|--:|\n");
    for row in &result.rows {
        text.push_str(&self::row(row, ours));
    }
    if !result.checked.is_empty() {
        let _ = writeln!(text, "\nCounted before: {}.", result.checked.join("; "));
    }
    text
}

/// Medians of a row's runs.
#[derive(Clone, Copy)]
struct Middle {
    wall: Duration,
    cpu: Duration,
}

impl Middle {
    fn of(row: &ToolRuns) -> Option<Self> {
        let middle = |value: fn(&Usage) -> Duration| median(row.usages.iter().map(value).collect());
        Some(Self { wall: middle(|usage| usage.wall)?, cpu: middle(|usage| usage.cpu)? })
    }
}

fn row(row: &ToolRuns, ours: Option<Middle>) -> String {
    let Some(Middle { wall, cpu }) = Middle::of(row) else {
        let note = row.note.as_deref().unwrap_or("not run");
        return format!("| {} | {note} | | | |\n", row.tool);
    };
    let middle =
        |value: fn(&Usage) -> u64| median(row.usages.iter().map(value).collect()).unwrap_or(0);
    let note = row.note.as_ref().map_or_else(String::new, |note| format!(" ({note})"));
    let times = ours.map_or_else(String::new, |ours| format!("{:.2}", ratio(wall, ours.wall)));
    format!(
        "| {}{note} | {:.3} ({}) | {:.3} | {times} | {} ({}) |\n",
        row.tool,
        wall.as_secs_f64(),
        spread(row.usages.iter().map(|usage| usage.wall)),
        cpu.as_secs_f64(),
        middle(|usage| usage.peak_rss) >> 20,
        middle(|usage| usage.peak_anon) >> 20,
    )
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64().max(1e-9)
}

/// Returns smallest and largest time.
fn spread(walls: impl Iterator<Item = Duration> + Clone) -> String {
    let (least, most) = (walls.clone().min().unwrap_or_default(), walls.max().unwrap_or_default());
    format!("{:.3}–{:.3}", least.as_secs_f64(), most.as_secs_f64())
}

/// Writes the sections into the page, over those of the same recordings; the others stay.
pub(super) fn write(machine: &str, sections: &[String]) -> Result<()> {
    let old = Part::read(MEASURED, &page::current()?);
    Part { name: MEASURED, text: merged(&old.text, machine, sections) }.write()
}

fn merged(old: &str, machine: &str, sections: &[String]) -> String {
    let mut all: Vec<&str> = old.split("\n### ").skip(1).map(str::trim).collect();
    let title = |section: &str| section.lines().next().unwrap_or_default().to_owned();
    for section in sections.iter().map(|section| section.trim_start_matches("### ").trim()) {
        match all.iter_mut().find(|known| title(known) == title(section)) {
            Some(known) => *known = section,
            None => all.push(section),
        }
    }
    let all: String = all.iter().map(|section| format!("\n\n### {section}")).collect();
    format!("{}{all}\n", machine.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_sections_of_what_was_measured_are_replaced() {
        let sections = ["### b\n\n3\n".to_owned(), "### c\n\n4\n".to_owned()];
        assert_eq!(
            merged("old\n\n### a\n\n1\n\n### b\n\n2", "new\n", &sections),
            "new\n\n### a\n\n1\n\n### b\n\n3\n\n### c\n\n4\n"
        );
        assert_eq!(merged("", "new", &[]), "new\n");
    }

    #[test]
    fn a_row_tells_medians_and_ratios() {
        let usage = |wall| Usage {
            wall: Duration::from_millis(wall),
            cpu: Duration::from_millis(30),
            peak_rss: 5 << 20,
            peak_anon: 2 << 20,
        };
        let measured = ToolRuns {
            is_unit: false,
            tool: "x".into(),
            peer: None,
            usages: vec![usage(200), usage(100), usage(400)],
            note: None,
        };
        let middle = |wall| {
            let wall = Duration::from_millis(wall);
            Some(Middle { wall, cpu: wall / 10 })
        };
        let line = row(&measured, middle(400));
        assert_eq!(line, "| x | 0.200 (0.100–0.400) | 0.030 | 0.50 | 5 (2) |\n");
        let none = ToolRuns {
            is_unit: false,
            tool: "y".into(),
            peer: None,
            usages: Vec::new(),
            note: Some("more than 9 s".into()),
        };
        assert_eq!(row(&none, None), "| y | more than 9 s | | | |\n");
    }
}
