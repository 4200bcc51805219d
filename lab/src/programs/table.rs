//! The table of programs, in the form of the documentation.

use std::collections::BTreeMap;

use super::count::Counts;
use crate::catalogue::Program;

/// A program with its counts.
pub(super) struct ProgramRow<'p> {
    pub(super) program: &'p Program,
    pub(super) counts: Counts,
}

/// Prints a row for each program, then one for each class, then one for all.
pub(super) fn print(rows: &[ProgramRow<'_>]) {
    println!("\n| class | program | stacks | rooted, % | perf, % | proven wrong | else ended by |");
    println!("|---|---|---:|---:|---:|---:|---|");
    let mut classes: BTreeMap<&str, Counts> = BTreeMap::new();
    let mut all = Counts::default();
    for ProgramRow { program, counts } in rows {
        line(program.class, program.name, counts);
        for sum in [classes.entry(program.class).or_default(), &mut all] {
            add(sum, counts);
        }
    }
    println!(
        "\n| class | programs | stacks | rooted, % | perf, % | proven wrong | else ended by |"
    );
    println!("|---|---:|---:|---:|---:|---:|---|");
    for (class, counts) in &classes {
        let programs = rows.iter().filter(|row| row.program.class == *class).count();
        line(class, &programs.to_string(), counts);
    }
    line("all", &rows.len().to_string(), &all);
}

fn line(class: &str, name: &str, counts: &Counts) {
    let mut ends: Vec<_> = counts.ends.iter().collect();
    ends.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let ends: Vec<String> =
        ends.iter().take(3).map(|(end, count)| format!("{end} {count}")).collect();
    println!(
        "| {class} | {name} | {} | {:.1} | {:.1} | {} | {} |",
        counts.samples,
        percent(counts.ours, counts.samples),
        percent(counts.perf, counts.samples),
        counts.wrong,
        ends.join(", ")
    );
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

fn add(sum: &mut Counts, more: &Counts) {
    sum.samples += more.samples;
    sum.ours += more.ours;
    sum.perf += more.perf;
    sum.wrong += more.wrong;
    for (end, count) in &more.ends {
        *sum.ends.entry(end.clone()).or_default() += count;
    }
}
