//! The keys of rows as cells with names, for programs.

use options::{ChoiceOrValue, GroupBy};
use profile::query::engine::{RowKey, Selection, TableRow};
use profile::query::{Function, FunctionLine, FunctionMarks, event_name};
use profile::{FieldValue, ProcessKey, Profile, StringId};
use serde::Serialize;
use serde_json::Value;

use super::top::Pools;

#[derive(Clone, Serialize)]
#[serde(untagged)]
pub(super) enum Cell {
    Text(String),
    Number(i64),
    Count(u64),
    Share(f64),
    /// Unknown, or not recorded.
    Null,
}

impl From<Cell> for Value {
    fn from(cell: Cell) -> Self {
        match cell {
            Cell::Text(text) => text.into(),
            Cell::Number(number) => number.into(),
            Cell::Count(count) => count.into(),
            Cell::Share(share) => share.into(),
            Cell::Null => Self::Null,
        }
    }
}

/// Names of the keys of a table's rows.
#[derive(Debug)]
pub struct RowKeys<'a> {
    pub(super) profile: &'a Profile,
    pub(super) selection: &'a Selection<'a>,
    pub(super) by: &'a ChoiceOrValue<GroupBy>,
    /// The pools, if the threads of a pool share one row.
    pub(super) pools: Pools,
    pub(super) marks: FunctionMarks,
}

impl<'a> RowKeys<'a> {
    /// Prepares the names of all rows of a table that is grouped by `by`. If `pools`, threads of a pool share one row.
    #[must_use]
    pub fn new(
        profile: &'a Profile,
        selection: &'a Selection<'a>,
        by: &'a ChoiceOrValue<GroupBy>,
        pools: bool,
        rows: &[TableRow],
    ) -> Self {
        let functions = rows.iter().filter_map(|row| match row.key {
            RowKey::Function(id) => Some(selection.function(id)),
            _ => None,
        });
        let marks = FunctionMarks::new(profile, &functions.collect::<Vec<_>>());
        let pools = if pools { Pools::new(profile) } else { Pools::default() };
        Self { profile, selection, by, pools, marks }
    }

    /// Returns the name of a key as columns with their values; unknown ones are null.
    #[must_use]
    pub fn named(&self, key: RowKey) -> Vec<(&'static str, Value)> {
        let values = self.cells(key).into_iter().map(Value::from);
        self.columns().iter().copied().zip(values).collect()
    }

    pub(super) fn columns(&self) -> &'static [&'static str] {
        let Some(group) = self.by.choice() else { return &["value", "missing"] };
        match group {
            GroupBy::Function => &["function", "mark", "module"],
            GroupBy::Module => &["module"],
            GroupBy::Line => &["file", "line", "function", "module"],
            GroupBy::Thread => &["thread", "pid", "tid"],
            GroupBy::Process => &["process", "pid"],
            GroupBy::Comm => &["comm"],
            GroupBy::Cgroup => &["cgroup"],
            GroupBy::Event => &["event"],
            GroupBy::Cpu => &["cpu"],
            GroupBy::Wait => &["wait"],
        }
    }

    pub(super) fn cells(&self, key: RowKey) -> Vec<Cell> {
        let text = |id: Option<StringId>| {
            id.map_or(Cell::Null, |id| Cell::Text(text_of(self.profile.strings.get(id))))
        };
        let mark = |function: &Function| {
            self.marks.of(function).map_or(Cell::Null, |mark| Cell::Text(mark.to_owned()))
        };
        match key {
            RowKey::Function(id) => {
                let it = self.selection.function(id);
                vec![text(it.name), mark(&it), text(it.module)]
            }
            RowKey::Module(path) => vec![text(path)],
            RowKey::Line(FunctionLine { function, file, line }) => {
                let it = self.selection.function(function);
                let line = if line == 0 { Cell::Null } else { Cell::Number(line.into()) };
                vec![text(file), line, text(it.name), text(it.module)]
            }
            RowKey::Thread(id) => match self.profile.threads.get(id) {
                Some(row) => {
                    let tid = match self.pools.threads(row) {
                        1 => Cell::Number(row.tid.0.into()),
                        _ => Cell::Null,
                    };
                    vec![text(Some(row.comm)), Cell::Number(row.pid.0.into()), tid]
                }
                None => vec![Cell::Null; 3],
            },
            RowKey::Process(ProcessKey { pid, name }) => {
                vec![text(Some(name)), Cell::Number(pid.0.into())]
            }
            RowKey::Comm(name) => vec![text(Some(name))],
            RowKey::Cgroup(path) => vec![text(path)],
            RowKey::Event(event) => vec![Cell::Text(text_of(event_name(self.profile, event)))],
            RowKey::Wait(kind) => {
                vec![kind.map_or(Cell::Null, |kind| Cell::Text(kind.to_string()))]
            }
            RowKey::Cpu(cpu) => vec![cpu.map_or(Cell::Null, |cpu| Cell::Number(cpu.into()))],
            RowKey::Value(Err(missing)) => {
                vec![Cell::Null, Cell::Text(missing.as_str().to_owned())]
            }
            RowKey::Value(Ok(value)) => {
                let value = match value {
                    FieldValue::Signed(number) => Cell::Number(number),
                    FieldValue::Unsigned(number) => Cell::Count(number),
                    FieldValue::Text(id) | FieldValue::List(id) => text(Some(id)),
                };
                vec![value, Cell::Null]
            }
        }
    }
}

pub(super) fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
