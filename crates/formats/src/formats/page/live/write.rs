//! Encoding of the tables: all of them, or the additions of a step.
//!
//! Both have the format of the page's tables: the length of the head in 8 bytes, the head in JSON, and columns, each
//! padded to 8 bytes. The head of a step states in `first` the numbers of rows that its reader must have.

use super::super::columns::column;
use super::super::head::VERSION;
use super::super::schema::{ADDRESSES, LEAVES, NODES, RowColumn, SampleNumber, Width, node_number};
use super::super::write_head;
use super::LivePage;
use super::rows::{FromRow, RowCounts, StepChanges};
use crate::render::encoding::json_writer::JsonWriter;

/// A column's name, width, and numbers.
type NamedColumn<'a> = (&'static str, Width, FromRow<'a>);

impl LivePage {
    /// Encodes all tables.
    pub(super) fn all_tables(&self, tick: u64) -> Vec<u8> {
        let columns = self.columns(&RowCounts::default(), true);
        let mut json = JsonWriter::default();
        json.object(|json| {
            json.key("version").number(VERSION);
            json.key("live").number(tick);
            json.key("first").number(self.forgotten);
            json.key("title").string(&self.title);
            json.key("summary").string(&self.summary);
            json.raw(&self.facts);
            self.texts(json, &RowCounts::default());
            json.raw(&self.quality);
            json.key("modules").array(&self.texts.modules, |json, text| json.raw(text));
            json.key("threads").array(&self.texts.thread_texts, |json, text| json.raw(text));
            json.key("sources").array([(); 0], |_, ()| ());
            shapes(json, &columns);
        });
        bytes(json, columns)
    }

    /// Encodes the additions since the tables had the sizes `before`.
    pub(super) fn changes(&self, before: &RowCounts, changes: &StepChanges) -> Vec<u8> {
        let samples = before.samples.saturating_sub(changes.forgotten);
        let mut columns = self.columns(&RowCounts { samples, ..*before }, false);
        let moved = || changes.moved.iter();
        let leaves = &self.rows.leaves;
        let node = |&leaf: &usize| leaves.get(leaf).map_or(0, |row| node_number(row.node));
        columns.push(("movedLeaf", Width::U32, Box::new(moved().map(|&leaf| leaf as u64))));
        columns.push(("movedNode", Width::U32, Box::new(moved().map(node))));
        let mut json = JsonWriter::default();
        json.object(|json| {
            json.key("forgotten").number(changes.forgotten as u64);
            json.key("first").array(
                [before.nodes, before.leaves, before.addresses, before.functions, samples],
                |json, rows| json.number(rows as u64),
            );
            self.texts(json, before);
            let changed = |json: &mut JsonWriter, rows: &[usize], texts: &[Vec<u8>]| {
                let rows = rows.iter().filter_map(|&at| Some((at, texts.get(at)?)));
                json.array(rows, |json, (at, text)| {
                    json.array([()], |json, ()| {
                        json.number(at as u64);
                        json.raw(text);
                    });
                });
            };
            changed(json.key("modules"), &changes.modules, &self.texts.modules);
            changed(json.key("threads"), &changes.threads, &self.texts.thread_texts);
            shapes(json, &columns);
        });
        bytes(json, columns)
    }

    /// Appends the functions, lines in other files, and names, from the given sizes on.
    fn texts(&self, json: &mut JsonWriter, from: &RowCounts) {
        let functions = self.texts.functions.iter().skip(from.functions);
        json.key("functions").array(functions, |json, row| {
            json.array([row], |json, row| row.iter().for_each(|&number| json.number(number)));
        });
        let elsewhere = self.texts.elsewhere.iter().skip(from.elsewhere);
        json.key("elsewhere").array(elsewhere, |json, row| {
            json.array([row], |json, row| row.iter().for_each(|&number| json.number(number)));
        });
        let names = self.texts.names.iter().skip(from.names);
        json.key("names").array(names, |json, name| json.string(name));
    }

    /// Returns the columns from the given sizes on. Whole tables contain times as differences.
    fn columns(&self, from: &RowCounts, whole: bool) -> Vec<NamedColumn<'_>> {
        let all = &self.rows;
        let mut columns = Vec::new();
        add(&mut columns, NODES, all.nodes.get(from.nodes..));
        add(&mut columns, LEAVES, all.leaves.get(from.leaves..));
        add(&mut columns, ADDRESSES, all.addresses.get(from.addresses..));
        for (column, numbers) in all.samples.columns(from.samples, self.present) {
            let is_time = matches!(column.number, SampleNumber::Time);
            let numbers = if whole && is_time { differences(numbers) } else { numbers };
            columns.push((column.name, column.width, numbers));
        }
        columns
    }
}

/// Adds the columns of a table.
fn add<'a, R>(
    columns: &mut Vec<NamedColumn<'a>>,
    table: &'a [RowColumn<R>],
    rows: Option<&'a [R]>,
) {
    let rows = rows.unwrap_or_default();
    columns.extend(table.iter().map(|column| -> NamedColumn<'a> {
        (column.name, column.width, Box::new(rows.iter().map(column.number)))
    }));
}

/// Subtracts from each number the previous one; the first is unchanged.
fn differences(numbers: FromRow<'_>) -> FromRow<'_> {
    let mut before = 0;
    Box::new(numbers.map(move |number| number - std::mem::replace(&mut before, number)))
}

/// Appends the names, widths and lengths of the columns.
fn shapes(json: &mut JsonWriter, columns: &[NamedColumn<'_>]) {
    json.key("columns").array(columns, |json, (name, width, rows)| {
        json.array([()], |json, ()| {
            json.string(name);
            json.string(width.name());
            json.number(rows.len() as u64);
        });
    });
}

fn bytes(json: JsonWriter, columns: Vec<NamedColumn<'_>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing to a vector does not fail.
    let _ = write_head(&json.into_bytes(), &mut bytes);
    for (_, width, rows) in columns {
        let _ = column(&mut bytes, width, rows);
    }
    bytes
}
