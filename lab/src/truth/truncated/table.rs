//! The printed table, in Markdown, and the meaning of its columns.

use std::collections::BTreeMap;

use super::tally::{Repaired, Tally};

/// Column heads and their meanings.
pub(super) const COLUMNS: &[(&str, &str)] = &[
    ("dump", "bytes of stack that are left of each sample"),
    ("samples", "of the recording"),
    ("whole", "the full dump's chain ends `root`; the other columns count these only"),
    ("cut", "their own stack does not reach the root any more"),
    ("repaired", "of the cut ones: they end `root`, with frames of other samples"),
    ("across a gap", "of the cut ones: they end `root-across-gap`, with a frame `[gap]`"),
    ("share", "of the cut ones, in percent: repaired + across a gap"),
    (
        "exact",
        "repaired, and the same modules and addresses as in the truth; a gap stands for any number of frames",
    ),
    ("in functions", "repaired, and the same functions as in the truth"),
    ("alien", "repaired, with a frame that the truth has not"),
    ("alien function", "repaired, with a function that the truth has not"),
    ("missing", "repaired, without a frame of the truth, and no gap in its place"),
    ("stay cut", "neither repaired nor across a gap"),
    ("wrong prefix", "of those that stay cut: their frames are not the inner ones of the truth"),
    ("whole, other", "not cut, but not the chain of the truth"),
];

/// Explanation of the columns for peers' rules.
pub(super) const OF_PEERS: &str = "Of peers' rules: all chains are our walks without repair, so only the rule differs; frames are compared by their
address in the process, and functions are those that the truth has at the address. A joined chain counts as repaired
where it ends on the outermost frame of a chain that is whole in the copy (simpleperf), or where the unwind information
says that there is no caller (hotspot). Peers neither mark joined frames nor show gaps.";

/// Returns the table's head and the line below it.
pub(super) fn head() -> String {
    let names: Vec<&str> = COLUMNS.iter().map(|&(name, _)| name).collect();
    format!("| {} |\n|{}", names.join(" | "), "--:|".repeat(COLUMNS.len()))
}

/// Returns the row of one size. Of two numbers, the first is of chains without a gap, the second of those with one.
pub(super) fn row(bytes: u64, tally: &Tally) -> String {
    let both = |number: fn(&Repaired) -> u64| {
        format!("{} + {}", grouped(number(&tally.to_root)), grouped(number(&tally.across_gap)))
    };
    let cells = [
        grouped(bytes),
        grouped(tally.samples),
        grouped(tally.whole),
        grouped(tally.cut),
        grouped(tally.to_root.chains),
        grouped(tally.across_gap.chains),
        format!(
            "{} + {}",
            percent(tally.to_root.chains, tally.cut),
            percent(tally.across_gap.chains, tally.cut)
        ),
        both(|of| of.exact),
        both(|of| of.exact_in_functions),
        both(|of| of.alien),
        both(|of| of.alien_function),
        both(|of| of.missing),
        grouped(tally.stay_cut),
        grouped(tally.wrong_prefix),
        grouped(tally.whole_but_other),
    ];
    format!("| {} |", cells.join(" | "))
}

/// Prints the end reasons of chains, if there are any.
pub(super) fn print_ends(which: &str, ends: &BTreeMap<String, u64>) {
    if !ends.is_empty() {
        let ends: Vec<String> = ends.iter().map(|(end, count)| format!("{count} {end}")).collect();
        println!("{which}: {}", ends.join(", "));
    }
}

/// Returns a part of a number in percent, rounded down to a tenth.
fn percent(part: u64, whole: u64) -> String {
    match (part * 1000).checked_div(whole) {
        Some(tenths) => format!("{}.{}", tenths / 10, tenths % 10),
        None => "-".to_owned(),
    }
}

/// Returns the number with a comma before each three digits.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_a_cell_for_each_column() {
        let repaired = |chains| Repaired { chains, exact: chains - 1, ..Repaired::default() };
        let tally = Tally {
            samples: 12_345,
            whole: 1_000,
            cut: 999,
            to_root: repaired(20),
            across_gap: repaired(3),
            stay_cut: 976,
            ..Tally::default()
        };
        assert_eq!(
            row(8192, &tally),
            "| 8,192 | 12,345 | 1,000 | 999 | 20 | 3 | 2.0 + 0.3 | 19 + 2 | 0 + 0 | 0 + 0 | 0 + 0 | 0 + 0 | 976 | 0 | 0 |"
        );
        assert_eq!(head().lines().map(|line| line.matches('|').count()).max(), Some(16));
        assert_eq!(row(8192, &tally).matches('|').count(), 16);
        assert_eq!(row(8192, &Tally::default()).split(" | ").nth(6), Some("- + -"));
    }
}
