//! Answers of the query engine to the filters of the view.

use address::ById as _;
use options::{CostKind, GroupBy, QueryFilter, Weight};
use profile::query::engine::{
    CallLabel, EventChoice, Filter, Patterns, RowKey, Selection, TableRow, TableShape, TreeRow,
    TreeShape, table, tree,
};
use profile::query::{Cost, FunctionId, WeightUnit, event_name};
use profile::{StackId, StringId};

use super::snapshot::Snapshot;

/// Maximum memory of a compiled pattern, in bytes.
const PATTERN_BYTES: usize = 64 << 20;

/// Maximum number of nodes of a tree. Less costly nodes are omitted.
const MOST_NODES: usize = 500_000;

/// A question to the engine.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Query {
    pub(crate) filter: QueryFilter,
    /// Patterns of functions: each must be on the stack.
    pub(crate) narrowing: Vec<String>,
    pub(crate) weight: Weight,
    /// Name of the counted event; the first one if `None`.
    pub(crate) event: Option<String>,
}

/// Cost of a source line of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SourceLine {
    pub(crate) file: Option<StringId>,
    /// 0 if unknown.
    pub(crate) line: u32,
    pub(crate) own: Cost,
    pub(crate) inclusive: Cost,
}

/// The sums of a selection, and its functions.
#[derive(Debug)]
pub(crate) struct Results {
    pub(crate) total: Cost,
    /// Number of samples with a complete stack.
    pub(crate) complete: u64,
    pub(crate) unit: WeightUnit,
    /// Name of the counted event.
    pub(crate) event: Option<Vec<u8>>,
    pub(crate) functions: Vec<TableRow>,
}

impl Query {
    /// Selects the samples of a snapshot.
    fn select<'s>(&self, data: &'s Snapshot) -> Result<Selection<'s>, String> {
        let event = match &self.event {
            Some(name) => EventChoice::Named(name.clone()),
            None => EventChoice::First,
        };
        let mut filter = Filter::new(&self.filter, PATTERN_BYTES)?;
        for pattern in &self.narrowing {
            let pattern = std::slice::from_ref(pattern);
            filter = filter.narrowed(Patterns::new(pattern, PATTERN_BYTES)?);
        }
        let selection = Selection::new(&data.profile, &data.index, self.weight, &event, &filter);
        selection.map_err(|error| error.to_string())
    }

    /// Returns the sums and the functions, sorted by a cost.
    pub(crate) fn results(&self, data: &Snapshot, sort: CostKind) -> Result<Results, String> {
        let selection = self.select(data)?;
        let weights = selection.weights();
        let shape = TableShape { sort, ..TableShape::all(GroupBy::Function) };
        Ok(Results {
            total: selection.total(),
            complete: selection.complete(),
            unit: weights.unit(),
            event: weights.event().map(|event| event_name(&data.profile, event).to_vec()),
            functions: table(&selection, shape).0,
        })
    }

    /// Returns the rows of a table by another key than functions.
    pub(crate) fn table(&self, data: &Snapshot, group: GroupBy) -> Result<Vec<TableRow>, String> {
        Ok(table(&self.select(data)?, TableShape::all(group)).0)
    }

    /// Returns the nodes of the call tree, and the number of omitted ones.
    pub(crate) fn tree(
        &self,
        data: &Snapshot,
        inverted: bool,
        truncated: bool,
    ) -> Result<(Vec<TreeRow>, usize), String> {
        let shape = TreeShape { inverted, truncated, depth: None, least: 0, most: MOST_NODES };
        Ok(tree(&self.select(data)?, shape))
    }

    /// Returns the costs of a function's source lines.
    pub(crate) fn lines(
        &self,
        data: &Snapshot,
        function: FunctionId,
    ) -> Result<Vec<SourceLine>, String> {
        let rows = self.table(data, GroupBy::Line)?;
        let line = |row: &TableRow| match row.key {
            RowKey::Line(at) if at.function == function => Some(SourceLine {
                file: at.file,
                line: at.line,
                own: row.own,
                inclusive: row.inclusive,
            }),
            _ => None,
        };
        Ok(rows.iter().filter_map(line).collect())
    }

    /// Returns the distinct stacks of the selected samples with their costs.
    pub(crate) fn stacks(&self, data: &Snapshot) -> Result<Vec<(StackId, Cost)>, String> {
        Ok(self.select(data)?.stacks())
    }
}

/// Returns the function of a node; `None` for the node of truncated stacks.
pub(super) const fn function_of(row: &TreeRow) -> Option<FunctionId> {
    match row.label {
        CallLabel::Function(function) => Some(function),
        CallLabel::Truncated => None,
    }
}

/// Returns the names of the events with samples, without the off-CPU event.
pub(crate) fn events(data: &Snapshot) -> Vec<Vec<u8>> {
    let profile = &data.profile;
    let mut has_samples = vec![false; profile.events.len()];
    for sample in &profile.samples {
        if let Some(flag) = has_samples.by_id_mut(sample.event) {
            *flag = true;
        }
    }
    let mut names: Vec<Vec<u8>> = Vec::new();
    for event in profile.events.ids() {
        let name = event_name(profile, event);
        let is_counted = has_samples.by_id(event) == Some(&true) && profile.off_cpu != Some(event);
        if is_counted && !names.iter().any(|it| it == name) {
            names.push(name.to_vec());
        }
    }
    names
}
