//! Costs as text.

use formats::{grouped, share};
use profile::query::WeightUnit;

/// Returns a part of the total in 7 columns, such as ` 12.3 %`.
pub(crate) fn share_of(part: u64, total: u64) -> String {
    format!("{:>7}", share(part, total))
}

/// Returns a cost in its unit: milliseconds for clocks, otherwise a number.
pub(crate) fn cost_text(unit: WeightUnit, weight: u64) -> String {
    match unit {
        WeightUnit::Nanoseconds => {
            let tenths = weight / 100_000 + u64::from(weight % 100_000 >= 50_000);
            format!("{}.{} ms", grouped(tenths / 10), tenths % 10)
        }
        WeightUnit::Samples | WeightUnit::Events => grouped(weight),
    }
}

/// Returns the heading of a column of costs.
pub(crate) const fn cost_title(unit: WeightUnit) -> &'static str {
    match unit {
        WeightUnit::Nanoseconds => "time",
        WeightUnit::Samples => "samples",
        WeightUnit::Events => "events",
    }
}
