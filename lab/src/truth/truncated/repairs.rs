//! `cargo lab truth repairs [FILE|PROGRAM]...`: compares repaired chains with the true ones, for many recordings, among
//! them programs made to mislead. A row for each recording and size of the dump, without peers.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use xtask::args::Args;
use xtask::command;

use super::table::{grouped, print_ends};
use super::tally::{Repaired, Tally};
use super::{Peers, SizeRow, are_wrong, rows, sizes};
use crate::truth::recorded::each;

/// Programs that are recorded if none is named: eleven ordinary ones, and those made to mislead.
const PROGRAMS: &[&str] = &[
    "gcc -O2",
    "rustc, debug",
    "CPython",
    "Perl",
    "PHP",
    "Java, frame pointers",
    "node",
    "git",
    "gcc (cc1plus)",
    "clang++ itself",
    "rustc itself",
    "recursion, numbers",
    "recursion, one pointer",
    "recursion, a list",
    "mutual",
    "pool",
    "coroutines",
];
/// Dump sizes that are tried, in bytes.
const SIZES: [u64; 2] = [8 << 10, 16 << 10];

/// Records, truncates, compares and prints.
pub(in crate::truth) fn run(mut args: Args) -> Result<ExitCode> {
    let sizes = sizes(&mut args, &SIZES)?;
    let keep = args.value("--keep")?.map(PathBuf::from);
    let ours = command::ours(args.value("--ours")?)?;
    let names = args.names()?;
    let mut found = Vec::new();
    each(&names, PROGRAMS, keep.as_deref(), |recorded| {
        let copy = recorded.folder.join("cut.data");
        let rows = rows(&ours, &recorded.file, &sizes, &copy, Peers::Omitted)?;
        std::fs::remove_file(copy)?;
        found.push((recorded.name.clone(), rows));
        Ok(())
    })?;
    print(&found);
    let wrong = found.iter().any(|(_, rows)| are_wrong(rows));
    Ok(if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Column heads. Chains with and without a gap have a column each.
const HEADS: [&str; 10] = [
    "samples",
    "whole",
    "cut",
    "exact",
    "wrong",
    "exact across a gap",
    "wrong across a gap",
    "stay cut",
    "wrong prefix",
    "whole, other",
];

fn numbers(tally: &Tally) -> [u64; HEADS.len()] {
    let wrong = |of: &Repaired| of.chains - of.exact;
    [
        tally.samples,
        tally.whole,
        tally.cut,
        tally.to_root.exact,
        wrong(&tally.to_root),
        tally.across_gap.exact,
        wrong(&tally.across_gap),
        tally.stay_cut,
        tally.wrong_prefix,
        tally.whole_but_other,
    ]
}

fn print(found: &[(String, Vec<SizeRow>)]) {
    println!("\n| recording | dump | {} |", HEADS.join(" | "));
    println!("|---|--:|{}", "--:|".repeat(HEADS.len()));
    let mut sums = [0; HEADS.len()];
    for (name, rows) in found {
        for row in rows {
            let numbers = numbers(&row.ours);
            println!("| {name} | {} | {} |", grouped(row.bytes), numbers.map(grouped).join(" | "));
            sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
        }
    }
    println!("| all | | {} |\n", sums.map(grouped).join(" | "));
    for (name, rows) in found {
        if let Some(row) = rows.first() {
            print_ends(&format!("{name}, not whole in the truth"), &row.ours.ends_of_truth);
        }
        for row in rows {
            print_ends(&format!("{name}, stay cut at {} bytes", row.bytes), &row.ours.ends);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_for_each_heading() {
        let repaired = |chains, exact| Repaired { chains, exact, ..Repaired::default() };
        let tally = Tally {
            samples: 90,
            whole: 80,
            cut: 40,
            to_root: repaired(20, 18),
            across_gap: repaired(10, 7),
            stay_cut: 10,
            wrong_prefix: 1,
            ..Tally::default()
        };
        assert_eq!(numbers(&tally), [90, 80, 40, 18, 2, 7, 3, 10, 1, 0]);
    }
}
