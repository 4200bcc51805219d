//! Normalized costs formatted for people, in one unit for the whole table, chosen by the total.

use profile::query::diff::{Diff, Normalization};

/// A unit for costs.
#[derive(Debug)]
pub(super) struct Scale {
    divisor: f64,
    decimals: usize,
    /// Starts with a space, except before a per cent sign.
    suffix: String,
}

/// Prefixes in steps of 1,000, for large numbers and for nanoseconds.
const LARGE: [(f64, &str); 5] = [(1.0, ""), (1e3, " k"), (1e6, " M"), (1e9, " G"), (1e12, " T")];
const NANOSECONDS: [(f64, &str); 4] = [(1.0, " ns"), (1e3, " µs"), (1e6, " ms"), (1e9, " s")];

impl Scale {
    /// Selects the unit for the costs of a difference. The total has at least three digits before the decimal point, so
    /// that a thousandth of it is visible.
    pub(super) fn new(diff: &Diff) -> Self {
        let total = diff.total.before.value.max(diff.total.after.value);
        let per = match diff.normalization {
            Normalization::Share => {
                return Self { divisor: 0.01, decimals: 2, suffix: " %".to_owned() };
            }
            Normalization::Samples => {
                let runs = diff.before.runs.len().max(diff.after.runs.len());
                return Self {
                    divisor: 1.0,
                    decimals: usize::from(runs > 1),
                    suffix: String::new(),
                };
            }
            Normalization::Time => "/s",
            Normalization::Work { .. } => "",
        };
        let units = if diff.unit == Some("nanoseconds") { &NANOSECONDS[..] } else { &LARGE[..] };
        let fits = |unit: &&(f64, &str)| total / unit.0 >= 100.0;
        let &(divisor, suffix) =
            units.iter().rev().find(fits).or(units.first()).unwrap_or(&(1.0, ""));
        let space = if suffix.is_empty() && !per.is_empty() { " " } else { "" };
        Self { divisor, decimals: 1, suffix: format!("{suffix}{space}{per}") }
    }

    /// Divisor of the values, number of decimals, and suffix.
    pub(super) fn parts(&self) -> (f64, usize, &str) {
        (self.divisor, self.decimals, &self.suffix)
    }

    /// Formats a cost: `201.2 ms/s`.
    pub(super) fn cost(&self, value: f64) -> String {
        format!("{:.*}{}", self.decimals, value / self.divisor, self.suffix)
    }

    /// Formats a difference with its sign: `+22.8 ms/s`.
    pub(super) fn delta(&self, value: f64) -> String {
        format!("{}{}", self.signed(value), self.suffix)
    }

    /// Formats a range without its unit: `+18.9 … +26.7`.
    pub(super) fn range(&self, [low, high]: [f64; 2]) -> String {
        format!("{} … {}", self.signed(low), self.signed(high))
    }

    fn signed(&self, value: f64) -> String {
        let text = format!("{:+.*}", self.decimals, value / self.divisor);
        // A value that is rounded to 0 has no sign.
        if text.chars().all(|char| matches!(char, '+' | '-' | '0' | '.')) {
            return text.trim_start_matches(['+', '-']).to_owned();
        }
        text
    }
}

/// Formats a ratio: `×1.11`; `new` or `gone` if one of the costs is 0.
pub(super) fn ratio(before: f64, after: f64) -> String {
    if before == 0.0 {
        return "new".to_owned();
    }
    match after / before {
        0.0 => "gone".to_owned(),
        ratio @ 0.0..100.0 => format!("×{ratio:.2}"),
        ratio => format!("×{ratio:.0}"),
    }
}
