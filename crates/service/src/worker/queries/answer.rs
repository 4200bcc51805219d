//! Answers to queries, in their JSON form.

use formats::{SpanDocument, value_json};
use profile::query::engine::{
    CallLabel, Index, RowKey, Selection, SelectionError, TableRow, TableShape, TreeRow, TreeShape,
    table, tree,
};
use profile::query::{FunctionLine, WeightUnit, event_name};
use profile::{ProcessKey, Profile, StringId};
use serde::Serialize;
use serde_json::Value;

use crate::problem::{Problem, ProblemKind};
use crate::protocol::{Query, QueryView};
use crate::worker::about::short_text as text;

/// Answer to a query.
#[derive(Debug, Serialize)]
pub(in crate::worker) struct QueryAnswer {
    /// Unit of weights: `samples`, `nanoseconds` or `events`.
    pub(super) unit: &'static str,
    /// Counted event.
    pub(super) event: Option<String>,
    /// Number of samples that passed the filter.
    pub(super) samples: u64,
    /// Total weight of these samples.
    pub(super) total: u64,
    /// Share of these samples with a complete chain.
    pub(super) complete_share: f64,
    /// Number of rows that limits removed.
    pub(super) cut: usize,
    pub(super) rows: Vec<AnswerRow>,
}

/// Row of a table, or node of a tree.
#[derive(Debug, Default, Serialize)]
pub(super) struct AnswerRow {
    pub(super) name: Option<String>,
    /// Value of a label, field or variable: a number or text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) value: Option<Value>,
    /// Keyword of the reason that samples have no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) missing: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) module: Option<String>,
    /// Text that distinguishes functions of equal name and module: a file with its line, or an address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mark: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<u32>,
    /// Row of the parent node; trees only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) depth: Option<usize>,
    pub(super) own: u64,
    pub(super) inclusive: u64,
}

/// Maximum bytes of the texts of an answer, in JSON.
const MOST_BYTES: usize = 16 << 20;

impl AnswerRow {
    /// Returns an upper bound of the bytes of its texts in JSON.
    fn bytes(&self) -> usize {
        let printed = |byte: u8| if (b' '..0x7f).contains(&byte) { 2 } else { 6 };
        let Self { name, module, mark, file, .. } = self;
        let texts = [name, module, mark, file].into_iter().flatten().map(String::as_str);
        let texts = texts.chain(self.value.as_ref().and_then(Value::as_str));
        let bytes = texts.flat_map(str::bytes);
        bytes.map(printed).sum()
    }
}

/// Returns the first rows whose texts fit into `most` bytes, and the number of omitted rows, including `cut`. A node of
/// a tree follows its parent, so the result is again a tree.
fn within(
    most: usize,
    rows: impl Iterator<Item = AnswerRow>,
    n_rows: usize,
    cut: usize,
) -> (Vec<AnswerRow>, usize) {
    let mut left = most;
    let fits = |row: &AnswerRow| match left.checked_sub(row.bytes()) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    let rows: Vec<AnswerRow> = rows.take_while(fits).collect();
    let cut = cut + (n_rows - rows.len());
    (rows, cut)
}

/// Answers a query.
///
/// # Errors
/// If the profile does not have the event, or a pattern is invalid.
pub(in crate::worker) fn rows(
    profile: &Profile,
    index: &Index,
    query: &Query,
) -> Result<QueryAnswer, Problem> {
    let filter = query.compiled_filter()?;
    let selection = Selection::new(profile, index, query.weight(), &query.event(), &filter);
    let selection = selection.map_err(refused)?;
    let total = selection.total();
    let least = (query.min_share * total.weight as f64).ceil() as u64;
    let most = query.rows();
    let (rows, cut): (Vec<AnswerRow>, _) = match query.view {
        QueryView::Top => {
            let Query { group, sort, .. } = query;
            let shape = TableShape { sort: *sort, least, most, ..TableShape::of(group) };
            let (rows, cut) = table(&selection, shape);
            let row = |row: &TableRow| table_row(profile, &selection, row);
            within(MOST_BYTES, rows.iter().map(row), rows.len(), cut)
        }
        // Spans have an answer of their own.
        QueryView::Tree | QueryView::Spans => {
            let Query { inverted, depth, .. } = *query;
            let shape = TreeShape { inverted, truncated: false, depth, least, most };
            let (rows, cut) = tree(&selection, shape);
            let row = |row: &TreeRow| tree_row(profile, &selection, row);
            within(MOST_BYTES, rows.iter().map(row), rows.len(), cut)
        }
    };
    let weights = selection.weights();
    let event = weights.event().map(|event| event_name(profile, event));
    Ok(QueryAnswer {
        unit: match weights.unit() {
            WeightUnit::Samples => "samples",
            WeightUnit::Nanoseconds => "nanoseconds",
            WeightUnit::Events => "count",
        },
        event: event.map(|name| String::from_utf8_lossy(name).into_owned()),
        samples: total.samples,
        total: total.weight,
        complete_share: selection.complete() as f64 / total.samples.max(1) as f64,
        cut,
        rows,
    })
}

/// Answers a query on spans.
pub(in crate::worker) fn spans(profile: &Profile, query: &Query) -> SpanDocument {
    SpanDocument::new(profile, query.group.value(), query.rows(), &|id| text(profile, id))
}

fn refused(error: SelectionError) -> Problem {
    let kind = match error {
        SelectionError::NoEvent { .. } => ProblemKind::DoesNotFit,
        _ => ProblemKind::BadRequest,
    };
    Problem::new(kind).detail(error.to_string())
}

fn table_row(profile: &Profile, selection: &Selection<'_>, it: &TableRow) -> AnswerRow {
    let text = |id: StringId| text(profile, id);
    let of_function = |function| FunctionLine { function, file: None, line: 0 };
    let row = match it.key {
        RowKey::Function(function) => code_row(profile, selection, of_function(function)),
        RowKey::Line(at) => code_row(profile, selection, at),
        RowKey::Module(path) => AnswerRow { name: path.map(text), ..AnswerRow::default() },
        RowKey::Thread(id) => {
            let thread = profile.threads.get(id);
            let name = thread.map(|it| format!("{} {}", text(it.comm), it.tid.0));
            AnswerRow { name, ..AnswerRow::default() }
        }
        RowKey::Process(ProcessKey { pid, name }) => {
            AnswerRow { name: Some(format!("{} {pid}", text(name))), ..AnswerRow::default() }
        }
        RowKey::Comm(name) => AnswerRow { name: Some(text(name)), ..AnswerRow::default() },
        RowKey::Cgroup(path) => AnswerRow { name: path.map(text), ..AnswerRow::default() },
        RowKey::Event(event) => AnswerRow {
            name: profile.events.get(event).map(|it| text(it.name)),
            ..AnswerRow::default()
        },
        RowKey::Wait(kind) => {
            AnswerRow { name: kind.map(|kind| kind.to_string()), ..AnswerRow::default() }
        }
        RowKey::Cpu(cpu) => {
            AnswerRow { name: cpu.map(|cpu| cpu.to_string()), ..AnswerRow::default() }
        }
        RowKey::Value(Ok(value)) => {
            AnswerRow { value: Some(value_json(value, text)), ..AnswerRow::default() }
        }
        RowKey::Value(Err(missing)) => {
            AnswerRow { missing: Some(missing.as_str()), ..AnswerRow::default() }
        }
    };
    AnswerRow { own: it.own.weight, inclusive: it.inclusive.weight, ..row }
}

fn tree_row(profile: &Profile, selection: &Selection<'_>, it: &TreeRow) -> AnswerRow {
    let row = match it.label {
        CallLabel::Function(function) => {
            code_row(profile, selection, FunctionLine { function, file: None, line: 0 })
        }
        CallLabel::Truncated => {
            AnswerRow { name: Some("[truncated]".to_owned()), ..AnswerRow::default() }
        }
    };
    let (own, inclusive) = (it.own.weight, it.inclusive.weight);
    AnswerRow { parent: it.parent, depth: Some(it.depth), own, inclusive, ..row }
}

/// Returns the row of a function, with its line if there is one.
fn code_row(profile: &Profile, selection: &Selection<'_>, at: FunctionLine) -> AnswerRow {
    let function = selection.function(at.function);
    let text = |id: Option<StringId>| id.map(|id| text(profile, id));
    AnswerRow {
        name: text(function.name),
        module: text(function.module),
        mark: selection.marks().of(&function).map(str::to_owned),
        file: text(if at.line > 0 { at.file } else { function.file }),
        line: (at.line > 0).then_some(at.line),
        ..AnswerRow::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_end_where_their_texts_have_too_many_bytes() {
        let row = |name: &str| AnswerRow { name: Some(name.to_owned()), ..AnswerRow::default() };
        let names = ["ab", "\u{1b}", "abc", ""];
        assert_eq!(names.map(|name| row(name).bytes()), [4, 6, 6, 0]);
        let within = |most| {
            let (rows, cut) = within(most, names.iter().map(|name| row(name)), names.len(), 5);
            (rows.len(), cut)
        };
        assert_eq!([16, 15, 10, 3].map(within), [(4, 5), (2, 7), (2, 7), (0, 9)]);
    }
}
