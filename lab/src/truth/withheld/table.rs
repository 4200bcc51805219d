//! The printed table, and the kinds of chains that differ from the truth.

use super::WithheldRow;
use super::compare::{Tally, Verdict};

/// Maximum number of kinds that are shown for a row.
const LINES: usize = 10;

type Column = (&'static str, fn(&Tally) -> u64);
const COLUMNS: [Column; 6] = [
    ("chains", |tally| tally.chains),
    ("rooted again", |tally| tally.count(Verdict::Again)),
    ("across a gap", |tally| tally.count(Verdict::AcrossGap)),
    ("ended early", |tally| tally.count(Verdict::Early)),
    ("wrong", |tally| tally.count(Verdict::Wrong)),
    ("early, wrong", |tally| tally.count(Verdict::EarlyWrong)),
];

/// Prints a line for each row, the total, and the kinds.
pub(super) fn print(rows: &[WithheldRow]) {
    let heads = COLUMNS.map(|(name, _)| name).join(" | ");
    println!("\n| recording | withheld | files | {heads} |");
    println!("|---|---|--:|{}", "--:|".repeat(COLUMNS.len()));
    for row in rows {
        let numbers = COLUMNS.map(|(_, of)| of(&row.tally).to_string()).join(" | ");
        println!("| {} | {} | {} | {numbers} |", row.recording, row.withheld, row.files);
    }
    let sums =
        COLUMNS.map(|(_, of)| rows.iter().map(|row| of(&row.tally)).sum::<u64>().to_string());
    println!("| all | | | {} |", sums.join(" | "));
    for row in rows {
        let mut kinds: Vec<_> = row.tally.kinds.iter().collect();
        kinds.sort_by_key(|&(kind, (count, _))| {
            (!kind.starts_with("wrong"), std::cmp::Reverse(count))
        });
        if !kinds.is_empty() {
            println!();
        }
        for (kind, (count, example)) in kinds.iter().take(LINES) {
            println!("{}, {}: {count} {kind} ({example})", row.recording, row.withheld);
        }
        if kinds.len() > LINES {
            println!("{}, {}: {} kinds more", row.recording, row.withheld, kinds.len() - LINES);
        }
    }
}
