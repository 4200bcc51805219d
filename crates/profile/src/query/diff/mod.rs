//! Difference of two recordings, or of several before and several after: costs of each function, significance of the
//! changes, and the union of the stacks.
//!
//! Functions are the same if their names, without suffixes added by compilers, are equal and their modules are paired.
//! Modules are paired by name, soname, common functions, or the user. Other functions are listed separately and never
//! marked. Costs are normalized before they are compared ([`Normalization`]). A difference is marked if it is unlikely
//! to be due to chance ([`DiffMethod`]), since two recordings of one program differ in a dozen functions by sampling
//! alone.

mod change;
mod compared;
mod confidence;
mod costs;
mod error;
mod matching;
mod modules;
mod names;
mod normalize;
mod notes;
mod run;
mod statistics;
mod tree;
mod weight;

pub use change::{Change, DiffCost};
pub use compared::NotCompared;
pub use confidence::DiffMethod;
pub use error::DiffError;
pub use matching::{DiffFunctionId, DiffName};
pub use modules::{DiffModule, DiffModuleId, DiffPair, PairedBy};
pub(super) use names::offset_in_name;
pub use normalize::{Normalization, NotByTime};
pub use notes::DiffNote;
pub use run::{DiffInput, DiffRun};
pub use tree::{DiffLabel, DiffNodeId};
pub use weight::DiffWeight;

use crate::id::StringId;
use crate::profile::Profile;
use crate::tables::{Strings, Table};
use compared::not_compared;
use confidence::{Confidence, RunTotals, mark};
use costs::{RunCosts, run_costs};
use hashbrown::HashMap;
use matching::Matching;
use modules::{Modules, renamed_threads};
use normalize::{ComparedRuns, factors, not_by_time};
use run::{RunKind, common_event, count, unit};
use tree::{CountOptions, UnionTree};

/// Options of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct DiffOptions<'a> {
    /// Divisor of costs. `None` selects [`Normalization::Time`] if event, rate and threads are similar in all
    /// recordings, and [`Normalization::Share`] otherwise.
    pub normalization: Option<Normalization>,
    /// Whether functions must have equal full names to be the same.
    pub exact_names: bool,
    /// Whether inlined functions are separate functions, in modules with inline information both before and after.
    pub inlines: bool,
    /// Pairs of modules that are the same, regardless of their names.
    pub pairs: &'a [DiffPair],
}

impl Default for DiffOptions<'_> {
    fn default() -> Self {
        Self { normalization: None, exact_names: false, inlines: true, pairs: &[] }
    }
}

/// Result of comparing recordings.
#[derive(Debug)]
pub struct Diff {
    /// Strings of the other tables.
    pub strings: Strings,
    /// The compared event.
    pub event: String,
    /// Unit of its costs, such as `nanoseconds`; `None` if samples are counted.
    pub unit: Option<&'static str>,
    /// Divisor of the costs.
    pub normalization: Normalization,
    /// Reason for not dividing by time, if the normalization was chosen automatically.
    pub not_by_time: Option<NotByTime>,
    /// Whether inlined functions are separate functions, in modules with inline information both before and after.
    pub inlines: bool,
    /// Whether full names were compared.
    pub exact_names: bool,
    /// The filters of functions that were applied to all recordings.
    pub filters: Vec<String>,
    /// The recordings before.
    pub before: DiffRuns,
    /// The recordings after.
    pub after: DiffRuns,
    /// Change of the total cost; it is never marked.
    pub total: Change,
    /// Method that determined the significance of changes.
    pub method: DiffMethod,
    /// Number of tested functions: by own cost, and by inclusive cost.
    pub tested: [usize; 2],
    /// Caveats.
    pub notes: Vec<DiffNote>,
    /// Modules with a frame in a stack.
    pub modules: Table<DiffModuleId, DiffModule>,
    /// All functions before and after, in the order of first appearance.
    pub functions: Table<DiffFunctionId, DiffFunction>,
    /// Union of all stacks. A parent precedes its children.
    pub tree: Table<DiffNodeId, DiffNode>,
    /// By recording, those before first: weights that end at each node. Trailing nodes without samples are omitted.
    pub weights: Vec<Vec<DiffWeight>>,
}

/// The recordings before or after.
#[derive(Debug, Clone, PartialEq)]
pub struct DiffRuns {
    /// The recordings.
    pub runs: Vec<DiffRun>,
    /// By recording: normalization factor of its costs.
    pub factors: Vec<f64>,
}

impl DiffRuns {
    /// Returns the share of samples with a stack that lacks its root.
    #[must_use]
    pub fn truncated_share(&self) -> f64 {
        self.share(|run| run.truncated)
    }

    /// Returns the share of samples with a complete stack.
    #[must_use]
    pub fn complete_share(&self) -> f64 {
        self.share(|run| run.complete)
    }

    fn share(&self, part: impl Fn(&DiffRun) -> u64) -> f64 {
        let sum = |of: &dyn Fn(&DiffRun) -> u64| self.runs.iter().map(of).sum::<u64>() as f64;
        sum(&part) / sum(&|run| run.total.samples).max(1.0)
    }

    /// Returns the mean duration of the recordings in seconds, or 0 if it is unknown.
    #[must_use]
    pub fn mean_seconds(&self) -> f64 {
        let seconds = self.runs.iter().filter_map(|run| run.seconds);
        seconds.sum::<f64>() / self.runs.len().max(1) as f64
    }
}

/// A function before and after.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DiffFunction {
    /// Its identification.
    pub name: DiffName,
    /// Its module; `None` if it is in none.
    pub module: Option<DiffModuleId>,
    /// Reason that it is not compared; `None` if it is. If it is not, its changes contain only the costs.
    pub not_compared: Option<NotCompared>,
    /// Change of its own cost.
    pub own: Change,
    /// Change of its inclusive cost.
    pub inclusive: Change,
}

/// A node of the union of all stacks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DiffNode {
    /// The caller's node; `None` for an outermost node.
    pub parent: Option<DiffNodeId>,
    /// Thread, function, or the mark of truncated stacks.
    pub label: DiffLabel,
    /// Cost before of samples that end at the node, without its descendants.
    pub before: DiffCost,
    /// Cost after of samples that end at the node, without its descendants.
    pub after: DiffCost,
}

impl Diff {
    /// Returns a string of the tables as bytes.
    #[must_use]
    pub fn text(&self, id: StringId) -> &[u8] {
        self.strings.get(id)
    }

    /// Returns the own cost of functions that are not compared as a share of the total, from 0 to 1, before and after.
    #[must_use]
    pub fn not_compared_shares(&self) -> [f64; 2] {
        let sum = |of: fn(&Change) -> f64| {
            let rows = self.functions.iter().filter(|row| row.not_compared.is_some());
            let total = of(&self.total);
            // An empty sum of floats is -0.
            let part = 0.0 + rows.map(|row| of(&row.own)).sum::<f64>();
            if total > 0.0 { part / total } else { 0.0 }
        };
        [sum(|change| change.before.value), sum(|change| change.after.value)]
    }

    /// Returns the functions that are not compared, sorted by decreasing cost (the larger of before and after), then by
    /// name.
    #[must_use]
    pub fn functions_not_compared(&self, inclusive: bool) -> Vec<(DiffFunctionId, &DiffFunction)> {
        let rows = self.functions.entries().filter(|(_, row)| row.not_compared.is_some());
        let cost = |row: &DiffFunction| {
            let change = if inclusive { row.inclusive } else { row.own };
            change.before.value.max(change.after.value)
        };
        let mut rows: Vec<_> = rows.filter(|(_, row)| cost(row) > 0.0).collect();
        rows.sort_by(|(_, one), (_, other)| {
            let by_cost = cost(other).total_cmp(&cost(one));
            by_cost.then_with(|| self.sort_key(one).cmp(&self.sort_key(other)))
        });
        rows
    }

    /// Returns the names of a function and of its module.
    fn sort_key(&self, row: &DiffFunction) -> (&[u8], Option<&[u8]>) {
        let module = row.module.and_then(|module| self.modules.get(module));
        let name = match row.name {
            DiffName::Named(name) => self.text(name),
            _ => b"",
        };
        (name, module.map(|module| self.text(module.name)))
    }

    /// Returns the compared functions with any difference in own or inclusive cost: marked ones first, then by
    /// decreasing difference, then by name.
    #[must_use]
    pub fn ranked(&self, inclusive: bool) -> Vec<(DiffFunctionId, &DiffFunction)> {
        let change = |row: &DiffFunction| if inclusive { row.inclusive } else { row.own };
        let rows = self.functions.entries();
        let mut rows: Vec<_> = rows
            .filter(|(_, row)| change(row).delta() != 0.0 && !row.name.is_gap())
            .filter(|(_, row)| row.not_compared.is_none())
            .collect();
        rows.sort_by(|(_, one), (_, other)| {
            let (left, right) = (change(one), change(other));
            let by_mark = right.marked.cmp(&left.marked);
            let by_size = || right.delta().abs().total_cmp(&left.delta().abs());
            let by_name = || self.sort_key(one).cmp(&self.sort_key(other));
            by_mark.then_with(by_size).then_with(by_name)
        });
        rows
    }
}

/// Compares the recordings `before` with the recordings `after`.
///
/// # Errors
/// Returns an error if there is no recording before or after, a recording has no samples, events or units differ, or a
/// pair names an unknown module. Also returns an error if the requested normalization is impossible.
pub fn diff(
    before: &[DiffInput<'_>],
    after: &[DiffInput<'_>],
    options: DiffOptions<'_>,
) -> Result<Diff, DiffError> {
    if before.is_empty() || after.is_empty() {
        return Err(DiffError::NoRecording);
    }
    let inputs: Vec<DiffInput<'_>> = before.iter().chain(after).copied().collect();
    let event = common_event(&inputs)?;
    let by_samples = options.normalization == Some(Normalization::Samples);
    let unit = if by_samples { None } else { common_unit(&inputs, &event)? };
    let mut strings = Strings::default();
    let modules = Modules::new([before, after], options.pairs, &mut strings)?;
    let renamed = [HashMap::new(), renamed_threads(&modules, &strings)];
    let counted = |side: usize, inputs: &[DiffInput<'_>]| -> (Vec<DiffRun>, Vec<RunKind>) {
        inputs.iter().map(|&input| count(input, &event, by_samples, &renamed[side])).unzip()
    };
    let (runs_before, kinds_before) = counted(0, before);
    let (runs_after, kinds_after) = counted(1, after);
    let sides = [(&*runs_before, &*kinds_before), (&*runs_after, &*kinds_after)];
    let (normalization, not_by_time) = chosen(options.normalization, &sides);
    let numbers = |runs: &[DiffRun], is_after| -> Result<RunTotals, DiffError> {
        let totals = runs.iter().map(|run| run.total).collect();
        Ok(RunTotals { totals, factors: factors(normalization, runs, is_after)? })
    };
    let confidence = Confidence {
        method: DiffMethod::of(normalization, before.len(), after.len()),
        shares: normalization == Normalization::Share,
        before: numbers(&runs_before, false)?,
        after: numbers(&runs_after, true)?,
    };
    let mut matching = Matching::new(strings, modules, options.exact_names, options.inlines);
    matching.learn([before, after]);
    let (matching, tree) = union([before, after], &event, by_samples, &renamed, matching);
    let (functions, total, tested) = functions(&matching, &tree, &confidence);
    let nodes = nodes(&tree, &confidence);
    let mut diff = Diff {
        strings: matching.strings,
        event: String::from_utf8_lossy(&event).into_owned(),
        unit,
        normalization,
        not_by_time,
        inlines: options.inlines,
        exact_names: options.exact_names,
        filters: filters(&inputs),
        before: DiffRuns { runs: runs_before, factors: confidence.before.factors.clone() },
        after: DiffRuns { runs: runs_after, factors: confidence.after.factors.clone() },
        total,
        method: confidence.method,
        tested,
        notes: Vec::new(),
        modules: matching.modules.rows,
        functions,
        tree: nodes,
        weights: tree.own,
    };
    diff.notes = notes::notes(&diff, &confidence);
    Ok(diff)
}

/// Returns the requested normalization, or the usual one of the recordings before and after, with the reason if it is
/// not by time.
fn chosen(
    requested: Option<Normalization>,
    sides: &ComparedRuns<'_>,
) -> (Normalization, Option<NotByTime>) {
    match requested {
        Some(normalization) => (normalization, None),
        None => match not_by_time(sides) {
            None => (Normalization::Time, None),
            Some(reason) => (Normalization::Share, Some(reason)),
        },
    }
}

/// Returns the filters of functions that were applied; they are the same for all recordings.
fn filters(inputs: &[DiffInput<'_>]) -> Vec<String> {
    let applied = inputs.iter().find_map(|input| input.profile.summary.applied_filter.as_ref());
    applied.map(|filter| filter.filters.clone()).unwrap_or_default()
}

/// Returns the unit of the event that all recordings share.
fn common_unit(inputs: &[DiffInput<'_>], event: &[u8]) -> Result<Option<&'static str>, DiffError> {
    let unit_of = |input: &DiffInput<'_>| unit(input.profile, event);
    let Some(first) = inputs.first() else { return Ok(None) };
    let common = unit_of(first);
    match inputs.iter().find(|input| unit_of(input) != common) {
        None => Ok(common),
        Some(other) => Err(DiffError::DifferentUnits {
            event: String::from_utf8_lossy(event).into_owned(),
            first: first.name.to_owned(),
            first_unit: common.unwrap_or("samples").to_owned(),
            second: other.name.to_owned(),
            second_unit: unit_of(other).unwrap_or("samples").to_owned(),
        }),
    }
}

/// Builds the union of the stacks of all recordings, and its functions.
fn union(
    sides: [&[DiffInput<'_>]; 2],
    event: &[u8],
    by_samples: bool,
    renamed: &[HashMap<Vec<u8>, Vec<u8>>; 2],
    mut matching: Matching,
) -> (Matching, UnionTree) {
    let mut tree = UnionTree::default();
    let no_frames = matching.no_frames();
    for (side, (inputs, renamed)) in sides.into_iter().zip(renamed).enumerate() {
        let counting = CountOptions { event, by_samples, no_frames, renamed };
        for input in inputs {
            let profile: &Profile = input.profile;
            let places = matching.location_functions(side, profile);
            tree.add(profile, &places, &mut matching.strings, counting);
        }
    }
    (matching, tree)
}

/// Returns the functions with their changes, the change of the total, and the number of tested functions.
fn functions(
    matching: &Matching,
    tree: &UnionTree,
    confidence: &Confidence,
) -> (Table<DiffFunctionId, DiffFunction>, Change, [usize; 2]) {
    let costs = run_costs(tree, matching.functions.len());
    let (before, after) = costs.split_at(confidence.before.totals.len().min(costs.len()));
    let change = |function, inclusive| {
        let weights = |runs: &[RunCosts]| -> Vec<DiffWeight> {
            runs.iter().map(|run| run.of(function, inclusive)).collect()
        };
        confidence.change(&weights(before), &weights(after))
    };
    let reasons = not_compared(matching, [before, after], confidence);
    let rows = matching.functions.entries().map(|(id, key)| {
        let not_compared = reasons.get(id).copied().flatten();
        let change = |inclusive| {
            let change = change(id, inclusive);
            match not_compared {
                Some(_) => Change { interval: None, p: None, ..change },
                None => change,
            }
        };
        let (own, inclusive) = (change(false), change(true));
        DiffFunction { name: key.name, module: key.module, not_compared, own, inclusive }
    });
    let mut rows: Table<DiffFunctionId, DiffFunction> = rows.collect();
    let total = confidence.change(&confidence.before.totals, &confidence.after.totals);
    // Frames that no sample shows are not functions.
    let is_tested = |row: &&mut DiffFunction| !row.name.is_gap() && row.not_compared.is_none();
    let own = mark(rows.iter_mut().filter(is_tested).map(|row| &mut row.own), &total);
    let inclusive = mark(rows.iter_mut().filter(is_tested).map(|row| &mut row.inclusive), &total);
    (rows, total, [own, inclusive])
}

/// Returns the nodes of the tree with the costs that end at each.
fn nodes(tree: &UnionTree, confidence: &Confidence) -> Table<DiffNodeId, DiffNode> {
    let n_before = confidence.before.totals.len();
    let node = |(id, &(parent, label))| {
        let weights = |runs: std::ops::Range<usize>| -> Vec<DiffWeight> {
            runs.map(|run| tree.own_weight(run, id)).collect()
        };
        DiffNode {
            parent,
            label,
            before: confidence.before.cost(&weights(0..n_before)),
            after: confidence.after.cost(&weights(n_before..tree.own.len())),
        }
    };
    tree.nodes.entries().map(node).collect()
}
