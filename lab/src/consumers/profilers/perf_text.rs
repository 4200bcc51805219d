//! Readers for the text of perf script, and inferno's pictures of our folded stacks.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use xtask::command;

use crate::consumers::truth::{Costs, Truth};
use crate::consumers::{Bench, Missing};

/// Command that installs inferno if it is missing.
const INFERNO: &str = "cargo install inferno --version 0.12.8 --quiet --locked --root";

/// Name of a sample without frames in the folded stacks; readers of the text omit it.
const NO_FRAMES: &str = "[no frames]";

/// Checks `inferno-collapse-perf` on our text, event by event, since it reads only the first one. Linker names are
/// used: it removes parameters, splits Java's names, and drops all names that start with a parenthesis.
pub(in crate::consumers) fn collapse(bench: &Bench<'_>) -> Result<String> {
    let bin = inferno(bench)?;
    let mut costs = Costs::default();
    let mut total = 0;
    for event in events(&mut bench.command())? {
        let file = bench.scratch.join("ours.perf.txt");
        let mut text = bench.command();
        text.args(["--format", "perf-script", "--fields=-period", "--demangle", "none"]);
        command::quiet_output(text.args(["--event", &event]).arg("--output").arg(&file))?;
        let folded = command::quiet_output(
            Command::new(bin.join("inferno-collapse-perf")).arg("--quiet").arg(&file),
        )?;
        let rootless: Option<String> =
            folded.lines().map(|line| Some(line.split_once(';')?.1.to_owned() + "\n")).collect();
        let read = Truth::of_folded(&rootless.context("a stack without a root")?)?;
        total += read.total;
        add(&mut costs.own, read.costs.own);
        add(&mut costs.inclusive, read.costs.inclusive);
    }
    let names = ["--root", "none", "--demangle", "none"];
    let mut truth = Truth::of_folded(&bench.folded(&names)?)?;
    truth.total -= truth.costs.own.get(NO_FRAMES).copied().unwrap_or_default();
    truth.compare_text(total, &costs)
}

/// Checks `inferno-flamegraph` on our reversed folded stacks: its first row shows each function with its own cost.
pub(in crate::consumers) fn flame_graph(bench: &Bench<'_>) -> Result<String> {
    let bin = inferno(bench)?;
    let file = bench.scratch.join("ours.folded");
    std::fs::write(&file, bench.folded(&["--root", "none", "--reverse"])?)?;
    let picture = command::quiet_output(Command::new(bin.join("inferno-flamegraph")).arg(&file))?;
    let (total, costs) = rectangles(&picture)?;
    bench.truth.compare(total, &costs)
}

/// Returns the folder of inferno's programs, which CI uses as well.
fn inferno(bench: &Bench<'_>) -> Result<PathBuf> {
    let root = command::target().join("inferno");
    let bin = root.join("bin");
    if !bin.join("inferno-flamegraph").is_file() {
        bench.install(command::words(INFERNO).arg(&root))?;
    }
    if !bin.join("inferno-collapse-perf").is_file() {
        return Err(Missing(format!("{} has no inferno-collapse-perf", bin.display())).into());
    }
    Ok(bin)
}

/// Returns the events of the samples.
pub(in crate::consumers) fn events(ours: &mut Command) -> Result<Vec<String>> {
    let fields = ["--format", "perf-script", "--fields", "event"];
    let text = command::quiet_output(ours.args(fields))?;
    let name = |line: &str| line.trim().trim_end_matches(':').to_owned();
    let mut events: Vec<String> = text.lines().map(name).collect();
    events.sort_unstable();
    events.dedup();
    Ok(events)
}

fn add(
    to: &mut std::collections::BTreeMap<String, u64>,
    more: std::collections::BTreeMap<String, u64>,
) {
    for (name, cost) in more {
        *to.entry(name).or_default() += cost;
    }
}

/// Returns the total of a picture, and the functions of its first row.
fn rectangles(picture: &str) -> Result<(u64, Costs)> {
    let mut rows: Vec<(u64, &str, u64)> = Vec::new();
    for group in picture.split("<g><title>").skip(1) {
        let (title, rest) = group.split_once("</title>").context("no end of a title")?;
        let name = title.rsplit_once(" (").context("no cost in a title")?.0;
        let number = |attribute: &str| -> Option<u64> {
            rest.split_once(attribute)?.1.split_once('"')?.0.parse().ok()
        };
        let (Some(row), Some(width)) = (number(" y=\""), number(" fg:w=\"")) else {
            bail!("no place of {title}");
        };
        rows.push((row, name, width));
    }
    // Everything is above the frame `all`.
    let all = rows.iter().map(|row| row.0).max().context("an empty picture")?;
    let total = rows.iter().filter(|row| row.0 == all).map(|row| row.2).sum();
    let first = rows.iter().map(|row| row.0).filter(|&row| row != all).max();
    let mut costs = Costs::default();
    for (_, name, width) in rows.iter().filter(|row| Some(row.0) == first) {
        *costs.own.entry(plain(name)).or_default() += width;
    }
    Ok((total, costs))
}

/// Returns the text with its XML entities decoded.
fn plain(text: &str) -> String {
    let entities =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    entities.iter().fold(text.to_owned(), |text, (entity, plain)| text.replace(entity, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_read() {
        let frame = |title: &str, y: u64, w: u64| {
            format!(
                "<g><title>{title}</title><rect x=\"0%\" y=\"{y}\" fg:x=\"0\" fg:w=\"{w}\"/></g>"
            )
        };
        let picture = [
            frame("main (1 samples, 33%)", 21, 1),
            frame("a&lt;b&gt; (int) (2 samples, 66%)", 37, 2),
            frame("c (1 samples, 33%)", 37, 1),
            frame("all (3 samples, 100%)", 53, 3),
        ];
        let (total, costs) = rectangles(&picture.concat()).unwrap();
        assert_eq!(total, 3);
        assert_eq!((costs.own["a<b> (int)"], costs.own["c"], costs.own.len()), (2, 1, 2));
    }
}
