//! Table cells: costs and names.

use profile::query::{Cost, Function, FunctionMarks, WeightUnit, Weights, event_name};
use profile::{Profile, StringId};

use super::short_names::ShortNames;
use crate::render::numbers::{counted, grouped};
use crate::render::text::push_line_safe;
use crate::render::truncation::push_repeated;

/// Returns a name as text that is safe to print on a terminal.
pub(super) fn text(name: &[u8]) -> String {
    let mut out = Vec::with_capacity(name.len());
    push_repeated(&mut out, name, push_line_safe);
    String::from_utf8_lossy(&out).into_owned()
}

/// Returns the last component of a module's path; names in brackets are returned in full.
pub(super) fn module(profile: &Profile, path: Option<StringId>) -> String {
    let Some(path) = path.map(|path| profile.strings.get(path)) else { return String::new() };
    let name = if path.starts_with(b"[") {
        path
    } else {
        path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
    };
    text(name)
}

pub(super) fn function(profile: &Profile, function: &Function, names: &ShortNames) -> String {
    let Some(name) = function.name.filter(|&name| !profile.strings.get(name).is_empty()) else {
        return "[unknown]".to_owned();
    };
    names.of(name).map_or_else(|| text(profile.strings.get(name)), str::to_owned)
}

/// Returns the function's name with the mark that distinguishes it from others of that name.
pub(super) fn marked(
    profile: &Profile,
    of: &Function,
    marks: &FunctionMarks,
    names: &ShortNames,
) -> String {
    let name = function(profile, of, names);
    match marks.of(of) {
        Some(mark) => format!("{name} ({})", text(mark.as_bytes())),
        None => name,
    }
}

/// Formats a cost in its unit: milliseconds for clocks, otherwise a number.
pub fn cost(unit: WeightUnit, weight: u64) -> String {
    match unit {
        WeightUnit::Nanoseconds => {
            let tenths = weight / 100_000 + u64::from(weight % 100_000 >= 50_000);
            format!("{}.{} ms", grouped(tenths / 10), tenths % 10)
        }
        WeightUnit::Samples | WeightUnit::Events => grouped(weight),
    }
}

/// Returns the heading of a column of costs.
pub const fn unit(unit: WeightUnit) -> &'static str {
    match unit {
        WeightUnit::Nanoseconds => "time",
        WeightUnit::Samples => "samples",
        WeightUnit::Events => "events",
    }
}

/// Formats the total: `31 samples of cpu-clock:u, 103.7 ms`.
pub(super) fn what_is_counted(profile: &Profile, weights: &Weights, total: Cost) -> String {
    let mut line = counted(total.samples, "sample");
    if let Some(event) = weights.event() {
        line.push_str(" of ");
        line.push_str(&text(event_name(profile, event)));
    }
    match weights.unit() {
        WeightUnit::Samples => {}
        WeightUnit::Nanoseconds => {
            line.push_str(", ");
            line.push_str(&cost(WeightUnit::Nanoseconds, total.weight));
        }
        WeightUnit::Events => {
            line.push_str(", ");
            line.push_str(&counted(total.weight, "event"));
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_control_a_terminal() {
        assert_eq!(text(b"a\x1b[2J"), "a\\x1b[2J");
    }

    #[test]
    fn clocks_are_milliseconds() {
        assert_eq!(cost(WeightUnit::Nanoseconds, 1_234_567_890), "1,234.6 ms");
        assert_eq!(cost(WeightUnit::Nanoseconds, 49_999), "0.0 ms");
        assert_eq!(cost(WeightUnit::Samples, 1234), "1,234");
    }
}
