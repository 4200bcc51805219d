//! Texts of recordings without control characters, numbers with their units, and tables as text.

use formats::{push_line_safe, short_text};
use profile::query::{Cost, WeightUnit};
use profile::{Profile, StringId};
use serde_json::{Map, Value, json};

/// Columns of a name in a table as text.
const WIDE: usize = 100;

/// Returns bytes of a recording as text of limited length, on one line.
pub(crate) fn safe(bytes: &[u8]) -> String {
    let mut out = Vec::new();
    push_line_safe(&mut out, &short_text(bytes));
    String::from_utf8_lossy(&out).into_owned()
}

/// Returns a text with its line ends, and with other control characters escaped.
pub(crate) fn safe_lines(text: &str) -> String {
    text.lines().map(|line| safe(line.as_bytes())).collect::<Vec<_>>().join("\n")
}

/// Returns a string of a profile.
pub(crate) fn of_profile(profile: &Profile, id: StringId) -> String {
    safe(profile.strings.get(id))
}

/// Returns a value with all its texts made safe.
pub(crate) fn safe_value(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(safe(text.as_bytes())),
        value => value,
    }
}

/// Returns a share in percent, with four decimals.
pub(crate) fn percent(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { (part / whole * 1e6).round() / 1e4 }
}

/// Returns a cost as an object: a number for each unit.
pub(crate) fn cost(cost: Cost, unit: WeightUnit) -> Value {
    let mut object = Map::new();
    object.insert("samples".to_owned(), json!(cost.samples));
    object.insert(unit.as_str().to_owned(), json!(cost.weight));
    Value::Object(object)
}

/// Same as [`cost`], with the share of a total.
pub(crate) fn cost_of(part: Cost, total: Cost, unit: WeightUnit) -> Value {
    let mut object = cost(part, unit);
    object["percent"] = json!(percent(part.weight as f64, total.weight as f64));
    object
}

/// Returns a share for a table: `12.50`.
pub(crate) fn share(part: Cost, total: Cost) -> String {
    format!("{:.2}", percent(part.weight as f64, total.weight as f64))
}

/// A table as text: numbers on the right of their columns, the last column on the left.
#[derive(Debug)]
pub(crate) struct TextTable {
    rows: Vec<Vec<String>>,
}

impl TextTable {
    pub(crate) fn new(titles: &[&str]) -> Self {
        Self { rows: vec![titles.iter().map(|&title| title.to_owned()).collect()] }
    }

    pub(crate) fn push(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Returns the lines; without rows, nothing.
    pub(crate) fn text(&self) -> String {
        if self.rows.len() < 2 {
            return String::new();
        }
        let columns = self.rows.first().map_or(0, Vec::len);
        let widths: Vec<usize> = (0..columns)
            .map(|at| {
                self.rows.iter().filter_map(move |row| row.get(at)).map(|it| it.chars().count())
            })
            .map(|widths| widths.max().unwrap_or(0))
            .collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).enumerate().map(|(at, (cell, &width))| {
                if at + 1 == columns { shortened(cell) } else { format!("{cell:>width$}") }
            });
            format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
        };
        self.rows.iter().map(line).collect()
    }
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= WIDE {
        return text.to_owned();
    }
    text.chars().take(WIDE - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_aligned_and_not_wide() {
        let mut table = TextTable::new(&["own %", "function"]);
        assert_eq!(table.text(), "");
        table.push(vec!["7.50".to_owned(), "main".to_owned()]);
        table.push(vec!["100.00".to_owned(), "x".repeat(101)]);
        let expected = format!(" own %  function\n  7.50  main\n100.00  {}…\n", "x".repeat(99));
        assert_eq!(table.text(), expected);
    }

    #[test]
    fn numbers_have_units() {
        let of = |samples, weight| Cost { samples, weight };
        let value = cost_of(of(1, 250), of(3, 750), WeightUnit::Nanoseconds);
        assert_eq!(value, json!({ "samples": 1, "nanoseconds": 250, "percent": 33.3333 }));
        assert_eq!(cost(of(2, 2), WeightUnit::Samples), json!({ "samples": 2 }));
        assert_eq!(share(of(1, 1), of(8, 8)), "12.50");
        assert_eq!(percent(1.0, 0.0), 0.0);
    }
}
