//! `callgrind_annotate` of valgrind.

use std::process::Command;

use anyhow::{Context, Result};
use xtask::command;

use crate::consumers::Bench;
use crate::consumers::truth::Costs;

/// Runs the check.
pub(in crate::consumers) fn check(bench: &Bench<'_>) -> Result<String> {
    bench.need(
        "valgrind --version",
        "apt-get install --quiet --yes --no-install-recommends valgrind",
    )?;
    let file = bench.write("callgrind.out.ours", &["--format", "callgrind"])?;
    let run = |inclusive: &str| {
        let mut annotate = Command::new("callgrind_annotate");
        annotate.args([
            "--show-percs=no",
            "--threshold=100",
            "--auto=no",
            "--show=Samples",
            inclusive,
        ]);
        command::quiet_output(annotate.arg(&file))
    };
    let (total, own) = table(&run("--inclusive=no")?)?;
    let (_, inclusive) = table(&run("--inclusive=yes")?)?;
    // A name in several files is several functions here with overlapping inclusive costs: not comparable.
    let single = |rows: &[(String, u64)]| {
        let alone = |name: &str| rows.iter().filter(|row| row.0 == name).count() == 1;
        rows.iter().filter(|row| alone(&row.0)).cloned().collect()
    };
    let mut costs = Costs { inclusive: single(&inclusive), ..Costs::default() };
    for (name, cost) in own {
        *costs.own.entry(name).or_default() += cost;
    }
    for (name, &cost) in &bench.truth.costs.inclusive {
        if inclusive.iter().filter(|row| row.0 == *name).count() > 1 {
            costs.inclusive.insert(name.clone(), cost);
        }
    }
    bench.truth.compare(total, &costs)
}

/// Returns the total and the rows `COST FILE:FUNCTION [MODULE]`.
fn table(text: &str) -> Result<(u64, Vec<(String, u64)>)> {
    let mut total = None;
    let mut rows = Vec::new();
    for line in text.lines() {
        let line = line.trim_start();
        let Some((cost, rest)) = line.split_once(char::is_whitespace) else { continue };
        let Ok(cost) = cost.replace(',', "").parse::<u64>() else { continue };
        let rest = rest.trim();
        if rest.starts_with("PROGRAM TOTALS") {
            total = Some(cost);
        } else if let Some((_, function)) = rest.split_once(':') {
            let name = function.rsplit_once(" [").map_or(function, |(name, _)| name);
            rows.push((name.replace(';', ":"), cost));
        }
    }
    Ok((total.context("no totals")?, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read() {
        let text = "Profile\n1,775  PROGRAM TOTALS\n\n 437  /a/b.rs:x::<impl y>::f(z) [/bin/r]\n192  ???:cfree\n";
        let (total, rows) = table(text).unwrap();
        assert_eq!(total, 1775);
        assert_eq!(rows, [("x::<impl y>::f(z)".to_owned(), 437), ("cfree".to_owned(), 192)]);
    }
}
