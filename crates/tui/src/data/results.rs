//! Answers of the query engine to the filters of the view.

use address::ById as _;
use options::{CostKind, GroupBy, QueryFilter, Weight};
use profile::query::engine::{
    CallLabel, EventChoice, Filter, MOST_NARROWING, Patterns, RowKey, Selection, TableRow,
    TableShape, TreeRow, TreeShape, table, tree,
};
use profile::query::{Cost, FunctionId, WeightUnit, event_name};
use profile::{StackId, StringId};

use super::snapshot::Snapshot;

/// Maximum memory of a compiled pattern, in bytes.
pub(crate) const PATTERN_BYTES: usize = 64 << 20;

/// Maximum number of nodes of a tree. Less costly nodes are omitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MostNodes(pub(crate) usize);

impl Default for MostNodes {
    fn default() -> Self {
        Self(500_000)
    }
}

/// A question to the engine.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Query {
    pub(crate) filter: QueryFilter,
    /// Patterns of functions: each must be on the stack.
    pub(crate) narrowing: Vec<String>,
    pub(crate) weight: Weight,
    /// Name of the counted event; the first one if `None`.
    pub(crate) event: Option<String>,
    pub(crate) most_nodes: MostNodes,
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
        if self.narrowing.len() > MOST_NARROWING {
            return Err(format!("at most {MOST_NARROWING} functions can be focused"));
        }
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
        let most = self.most_nodes.0;
        let shape = TreeShape { inverted, truncated, depth: None, least: 0, most };
        Ok(tree(&self.select(data)?, shape))
    }

    /// Returns the query restricted to stacks with a function of this one's name, if it has one.
    pub(crate) fn of_function(&self, data: &Snapshot, function: FunctionId) -> Self {
        let mut query = self.clone();
        let name = data.text(data.function(function).name);
        if !name.is_empty() && query.narrowing.len() < MOST_NARROWING {
            query.narrowing.push(exactly(name));
        }
        query
    }

    /// Returns the costs of a function's source lines, as in the table of functions: with the costs of hidden functions.
    pub(crate) fn lines(
        &self,
        data: &Snapshot,
        function: FunctionId,
    ) -> Result<Vec<SourceLine>, String> {
        let rows = self.of_function(data, function).table(data, GroupBy::Line)?;
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

/// Returns the pattern of this text alone, which need not be UTF-8.
pub(crate) fn exactly(text: &[u8]) -> String {
    match std::str::from_utf8(text) {
        Ok(text) => format!("^{}$", regex::escape(text)),
        Err(_) => {
            let bytes: String = text.iter().map(|byte| format!("\\x{byte:02x}")).collect();
            format!("(?-u)^{bytes}$")
        }
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
