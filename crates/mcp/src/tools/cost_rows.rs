//! Rows of answers: names of functions, with own and inclusive costs.

use profile::Profile;
use profile::query::engine::Selection;
use profile::query::{Cost, Function, FunctionMarks, WeightUnit};
use serde_json::{Map, Value, json};

use crate::text::{cost_of, of_profile, safe};

/// Returns the members that identify a function, as in `top`.
pub(super) fn function(
    profile: &Profile,
    function: &Function,
    marks: &FunctionMarks,
) -> Map<String, Value> {
    let mut row = Map::new();
    row.insert("function".to_owned(), json!(function.name.map(|name| of_profile(profile, name))));
    if let Some(mark) = marks.of(function) {
        row.insert("mark".to_owned(), json!(safe(mark.as_bytes())));
    }
    row.insert("module".to_owned(), json!(function.module.map(|path| of_profile(profile, path))));
    row
}

/// Returns a function for a table as text: its name, its mark, and the last part of its module's path.
pub(super) fn label(row: &Map<String, Value>) -> String {
    let text = |name: &str| row.get(name).and_then(Value::as_str);
    let mut label = text("function").unwrap_or("[unknown]").to_owned();
    if let Some(mark) = text("mark") {
        label.push_str(&format!(" ({mark})"));
    }
    if let Some(module) = text("module") {
        let last = module.rsplit('/').next().unwrap_or(module);
        label.push_str(&if last.starts_with('[') {
            format!(" {last}")
        } else {
            format!(" [{last}]")
        });
    }
    label
}

/// Inserts own and inclusive cost into a row.
pub(super) fn add_costs(
    row: &mut Map<String, Value>,
    [own, inclusive]: [Cost; 2],
    total: Cost,
    unit: WeightUnit,
) {
    row.insert("own".to_owned(), cost_of(own, total, unit));
    row.insert("inclusive".to_owned(), cost_of(inclusive, total, unit));
}

/// Returns the total and the unit of a selection.
pub(super) fn scale(selection: &Selection<'_>) -> (Cost, WeightUnit) {
    (selection.total(), selection.weights().unit())
}
