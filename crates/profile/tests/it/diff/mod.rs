//! Differences of small hand-written recordings: matching, errors, and marks.

mod matched;
mod noise;
mod paired;
mod properties;
mod recording;
mod refused;

use profile::Profile;
use profile::query::diff::{Change, Diff, DiffInput, DiffName, DiffOptions, diff};

/// Returns the difference of two recordings named `a` and `b`.
fn diff_of(before: &Profile, after: &Profile, options: DiffOptions<'_>) -> Diff {
    let input = |name, profile| [DiffInput { name, profile }];
    diff(&input("a", before), &input("b", after), options).expect("they can be compared")
}

/// Returns a function's name and module as text.
fn name_of(
    diff: &Diff,
    name: DiffName,
    module: Option<profile::query::diff::DiffModuleId>,
) -> String {
    let text = |id| String::from_utf8_lossy(diff.text(id)).into_owned();
    let module = module.and_then(|id| diff.modules.get(id)).map(|module| text(module.name));
    let name = match name {
        DiffName::Named(name) => text(name),
        DiffName::At(start) => format!("{start:#x}"),
        DiffName::Unknown => "unknown".to_owned(),
        DiffName::Gap => "gap".to_owned(),
        DiffName::TailCalls => "tail calls".to_owned(),
        DiffName::NoFrames => "no frames".to_owned(),
    };
    format!("{name}@{}", module.unwrap_or_default())
}

/// Returns all functions with their own and inclusive changes, by name.
fn functions(diff: &Diff) -> Vec<(String, Change, Change)> {
    let rows = diff.functions.iter();
    let mut rows: Vec<_> =
        rows.map(|row| (name_of(diff, row.name, row.module), row.own, row.inclusive)).collect();
    rows.sort_by(|left, right| left.0.cmp(&right.0));
    rows
}

/// Returns the names of the functions with a marked change of own cost.
fn marked(diff: &Diff) -> Vec<String> {
    let rows = diff.ranked(false).into_iter().filter(|(_, row)| row.own.marked);
    rows.map(|(_, row)| name_of(diff, row.name, row.module)).collect()
}
