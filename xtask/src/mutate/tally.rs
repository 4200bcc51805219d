//! Outcomes of the runs, by the kind of damaged bytes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Outcome of a run on damaged files that did not fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    /// The output is that of undamaged files, or there is a finding and the status is 0.
    Same,
    Finding,
    /// Status 1: a result, and damage is reported.
    Damage,
    /// Status 2: no result.
    Nothing,
    /// Status 0 and no finding: the output differs, and the summary shows another share of complete stacks, lost
    /// samples or frames without names.
    Account,
    /// Status 0 and no finding: the output differs, and nothing indicates it.
    Silent,
}

const FATES: &[(Fate, &str)] = &[
    (Fate::Same, "same"),
    (Fate::Finding, "finding"),
    (Fate::Damage, "status 1"),
    (Fate::Nothing, "status 2"),
    (Fate::Account, "account"),
    (Fate::Silent, "silent"),
];

/// Number of runs by kind and by outcome.
#[derive(Default)]
pub(super) struct Tally(BTreeMap<String, [u64; FATES.len()]>);

impl Tally {
    pub(super) fn add(&mut self, kind: &str, fate: Fate) {
        let row = self.0.entry(kind.to_owned()).or_default();
        let column = FATES.iter().position(|it| it.0 == fate);
        column.and_then(|at| row.get_mut(at)).into_iter().for_each(|count| *count += 1);
    }

    /// Returns the table, with the sum of all rows at its end.
    pub(super) fn table(&self) -> String {
        let mut table = "| bytes | runs |".to_owned();
        for (_, name) in FATES {
            let _ = write!(table, " {name} |");
        }
        table.push_str("\n|---|--:|");
        table.push_str(&"--:|".repeat(FATES.len()));
        let mut sum = [0; FATES.len()];
        for row in self.0.values() {
            sum.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
        }
        let rows = self.0.iter().map(|(kind, row)| (kind.as_str(), row));
        for (kind, row) in rows.chain([("all", &sum)]) {
            let runs: u64 = row.iter().sum();
            let _ = write!(table, "\n| {kind} | {runs} |");
            for count in row {
                let _ = write!(table, " {count} |");
            }
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_counted_by_kind() {
        let mut tally = Tally::default();
        tally.add("b", Fate::Silent);
        tally.add("a", Fate::Same);
        tally.add("a", Fate::Nothing);
        let expected = "| bytes | runs | same | finding | status 1 | status 2 | account | silent |\n\
            |---|--:|--:|--:|--:|--:|--:|--:|\n\
            | a | 2 | 1 | 0 | 0 | 1 | 0 | 0 |\n\
            | b | 1 | 0 | 0 | 0 | 0 | 0 | 1 |\n\
            | all | 3 | 1 | 0 | 0 | 1 | 0 | 1 |";
        assert_eq!(tally.table(), expected);
    }
}
