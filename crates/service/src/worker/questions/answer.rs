//! Answers as they are sent.

use profile::query::FunctionLine;
use profile::{Profile, StringId};
use serde::Serialize;

use super::index::Index;
use super::selection::Selection;
use super::{table, tree};
use crate::problem::Problem;
use crate::query::{Query, View};
use crate::worker::about::text;

/// An answer.
#[derive(Debug, Serialize)]
pub(in crate::worker) struct Answered {
    /// In what weights are counted: `samples`, `nanoseconds` or `events`.
    pub(super) unit: &'static str,
    /// The event whose samples are counted.
    pub(super) event: Option<String>,
    /// Samples that passed the filter.
    pub(super) samples: u64,
    /// What they weigh.
    pub(super) total: u64,
    /// The share of them whose chain is complete.
    pub(super) complete_share: f64,
    /// Rows that limits left out.
    pub(super) cut: usize,
    pub(super) rows: Vec<Row>,
}

/// A row of a table, or a node of a tree.
#[derive(Debug, Default, Serialize)]
pub(super) struct Row {
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) module: Option<String>,
    /// What tells the function apart from others of that name and module: a file, with its line, or an address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mark: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<u32>,
    /// The row of the node that it is below; trees only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) depth: Option<usize>,
    pub(super) own: u64,
    pub(super) inclusive: u64,
}

/// Rows, and how many more there are.
pub(super) type Rows = (Vec<Row>, usize);

/// Answers a question.
///
/// # Errors
/// Where the profile has no such event, or a pattern is wrong.
pub(in crate::worker) fn rows(
    profile: &Profile,
    index: &Index,
    query: &Query,
) -> Result<Answered, Problem> {
    let selection = Selection::new(profile, index, query)?;
    let weights = selection.counted.iter().map(|it| it.weight);
    let total = weights.fold(0, u64::saturating_add);
    let least = (query.min_share * total as f64).ceil() as u64;
    let (rows, cut) = match query.view {
        View::Top => table::rows(&selection, query, least),
        View::Tree => tree::rows(&selection, query, least),
    };
    Ok(Answered {
        unit: selection.unit,
        event: selection.event,
        samples: selection.samples,
        total,
        complete_share: selection.complete as f64 / selection.samples.max(1) as f64,
        cut,
        rows,
    })
}

/// A function, with its line where it has one.
pub(super) fn code_row(selection: &Selection<'_>, at: FunctionLine) -> Row {
    let function = selection.function(at.function);
    let text = |id: Option<StringId>| id.map(|id| text(selection.profile, id));
    Row {
        name: text(function.name),
        module: text(function.module),
        mark: selection.index.marks.of(&function).map(str::to_owned),
        file: text(if at.line > 0 { at.file } else { function.file }),
        line: (at.line > 0).then_some(at.line),
        ..Row::default()
    }
}
