//! The table of a benchmark, and its place in the documentation.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use super::measure::{Usage, median};
use super::{Measured, Row};
use crate::command;
use crate::testdata::cpu_model;

/// Between these lines the page is ours.
const BEGIN: &str = "<!-- measured: begin -->";
const END: &str = "<!-- measured: end -->";

/// Machine and versions, then a table for each recording.
pub(super) fn table(machine: &str, results: &[Measured]) -> String {
    let mut text = machine.to_owned();
    for result in results {
        section(&mut text, result);
    }
    text
}

/// The machine and the versions; to be asked before measuring, because the load is part of it.
pub(super) fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let governor = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    let governor = governor.map_or_else(|_| "not told".to_owned(), |text| text.trim().to_owned());
    let mut text = String::new();
    let mut line = |name: &str, value: &str| text.push_str(&format!("- {name}: {value}\n"));
    line("processor", &format!("{}, {cores} cores, governor {governor}", cpu_model()));
    line("kernel", &command::version_of("uname -r"));
    line("compiler", &command::version_of("rustc --version"));
    line("perf", &command::version_of("perf --version"));
    line("commit", &command::version_of("git describe --always --dirty"));
    line("load before", std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim());
    text
}

fn section(text: &mut String, result: &Measured) {
    let reading = median(result.reading.clone()).unwrap_or_default();
    let ours = result.rows.first().and_then(median_wall);
    let per_sample = result.frames as f64 / result.samples.max(1) as f64;
    let _ = writeln!(
        text,
        "\n### {}\n\n{:.1} MB, {} samples, {} user frames ({per_sample:.1} a sample).\n",
        result.name,
        result.bytes as f64 / 1e6,
        result.samples,
        result.frames,
    );
    text.push_str("| program | runs | wall s | spread | × reading | × ours | cpu s | peak MB | anonymous MB | samples/s | frames/s |\n");
    text.push_str("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    let own = ours.map_or_else(String::new, |ours| format!("{:.2}", ratio(reading, ours)));
    let _ = writeln!(
        text,
        "| reading the file, 1 MiB a call | {} | {:.3} | {} | 1.0 | {own} | | | | | |",
        result.reading.len(),
        reading.as_secs_f64(),
        spread(result.reading.iter().copied()),
    );
    for row in &result.rows {
        text.push_str(&self::row(row, reading, ours, result));
    }
}

fn row(row: &Row, reading: Duration, ours: Option<Duration>, result: &Measured) -> String {
    let Some(wall) = median_wall(row) else {
        return format!(
            "| {} | 0 | {} | | | | | | | | |\n",
            row.tool,
            row.note.as_deref().unwrap_or("not run")
        );
    };
    let middle =
        |value: fn(&Usage) -> u64| median(row.usages.iter().map(value).collect()).unwrap_or(0);
    let cpu = median(row.usages.iter().map(|usage| usage.cpu).collect()).unwrap_or_default();
    let note = row.note.as_ref().map_or_else(String::new, |note| format!(" ({note})"));
    let to_ours = ours.map_or_else(String::new, |ours| format!("{:.2}", ratio(wall, ours)));
    format!(
        "| {}{note} | {} | {:.3} | {} | {:.1} | {to_ours} | {:.2} | {} | {} | {:.0} | {:.0} |\n",
        row.tool,
        row.usages.len(),
        wall.as_secs_f64(),
        spread(row.usages.iter().map(|usage| usage.wall)),
        ratio(wall, reading),
        cpu.as_secs_f64(),
        middle(|usage| usage.peak_rss) >> 20,
        middle(|usage| usage.peak_anon) >> 20,
        result.samples as f64 / wall.as_secs_f64(),
        result.frames as f64 / wall.as_secs_f64(),
    )
}

fn median_wall(row: &Row) -> Option<Duration> {
    median(row.usages.iter().map(|usage| usage.wall).collect())
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64().max(1e-9)
}

/// Smallest to largest.
fn spread(walls: impl Iterator<Item = Duration> + Clone) -> String {
    let (least, most) = (walls.clone().min().unwrap_or_default(), walls.max().unwrap_or_default());
    format!("{:.3}–{:.3}", least.as_secs_f64(), most.as_secs_f64())
}

/// Puts the text between the page's marks; the rest of the page is written by people.
pub(super) fn write(page: &Path, text: &str) -> Result<()> {
    let old = std::fs::read_to_string(page)
        .unwrap_or_else(|_| format!("# Measurements\n\n{BEGIN}\n{END}\n"));
    std::fs::write(page, placed(&old, text)).with_context(|| page.display().to_string())?;
    println!("written to {}", page.display());
    Ok(())
}

fn placed(old: &str, text: &str) -> String {
    let front = old.split(BEGIN).next().unwrap_or_default().trim_end();
    let back = old.split_once(END).map_or("", |(_, back)| back);
    format!("{front}\n\n{BEGIN}\n{}\n{END}\n{}", text.trim_end(), back.trim_start_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_is_replaced() {
        let page = format!("# Title\n\nwhy\n\n{BEGIN}\nold\n{END}\nafter\n");
        assert_eq!(
            placed(&page, "new\n"),
            format!("# Title\n\nwhy\n\n{BEGIN}\nnew\n{END}\nafter\n")
        );
        assert_eq!(placed("# Title\n", "new"), format!("# Title\n\n{BEGIN}\nnew\n{END}\n"));
    }

    #[test]
    fn a_row_tells_medians_and_ratios() {
        let usage = |wall| Usage {
            wall: Duration::from_millis(wall),
            cpu: Duration::from_millis(30),
            peak_rss: 5 << 20,
            peak_anon: 2 << 20,
        };
        let result = Measured {
            name: String::new(),
            bytes: 0,
            samples: 10,
            frames: 40,
            reading: Vec::new(),
            rows: vec![Row {
                tool: "x",
                usages: vec![usage(200), usage(100), usage(400)],
                note: None,
            }],
        };
        let line = row(
            &result.rows[0],
            Duration::from_millis(50),
            Some(Duration::from_millis(400)),
            &result,
        );
        assert_eq!(
            line,
            "| x | 3 | 0.200 | 0.100–0.400 | 4.0 | 0.50 | 0.03 | 5 | 2 | 50 | 200 |\n"
        );
        let none = Row { tool: "y", usages: Vec::new(), note: Some("more than 9 s".into()) };
        assert_eq!(
            self::row(&none, Duration::ZERO, None, &result),
            "| y | 0 | more than 9 s | | | | | | | | |\n"
        );
    }
}
