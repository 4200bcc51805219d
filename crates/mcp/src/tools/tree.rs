//! The tool `tree`.

use std::cmp::Reverse;

use options::GroupBy;
use profile::query::engine::{CallLabel, TreeRow, TreeShape, tree};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Call;
use super::cost_rows::{add_costs, function, label, scale};
use crate::answer::Answer;
use crate::arguments::{CountedArgs, FilterArgs, rows, wrong};
use crate::refusal::Refusal;
use crate::selected::{Counted, select};
use crate::text::{TextTable, share};

/// Default number of nodes, and default minimum of their share in percent.
const ROWS: usize = 60;
const PERCENT: f64 = 1.0;

/// Levels whose indentation differs in the text.
const DEEPEST_INDENT: usize = 24;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Args {
    #[serde(flatten)]
    counted: CountedArgs,
    /// True to start from the innermost functions, with their callers below.
    #[serde(default)]
    bottom_up: bool,
    /// Nodes with a smaller share of the total, in percent, are omitted; 1 if it is omitted.
    #[schemars(range(min = 0, max = 100))]
    min_percent: Option<f64>,
    /// Most levels.
    #[schemars(range(min = 1))]
    depth: Option<usize>,
    #[serde(default)]
    filter: FilterArgs,
    /// Most nodes, the costliest first; 60 if it is omitted.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
}

pub(super) fn answer(call: &Call<'_>, args: &Args) -> Result<Answer, Refusal> {
    let limit = rows(args.limit, ROWS)?;
    let min_percent = args.min_percent.unwrap_or(PERCENT);
    if !(0.0..=100.0).contains(&min_percent) {
        return Err(wrong("min_percent", "expected a number from 0 to 100"));
    }
    if args.depth == Some(0) {
        return Err(wrong("depth", "expected a number above 0"));
    }
    let loaded = call.load_counted(&args.counted)?;
    let profile = &loaded.profile.profile;
    let selection = select(&loaded, GroupBy::Function, &args.counted, &args.filter)?;
    let (total, unit) = scale(&selection);
    let least = (min_percent / 100.0 * total.weight as f64).ceil() as u64;
    let counted = Counted::of(profile, &selection);
    Ok(Answer::within(limit, "limit, min_percent, depth or filter.focus", |most| {
        let inverted = args.bottom_up;
        let shape = TreeShape { inverted, truncated: true, depth: args.depth, least, most };
        let (nodes, omitted) = tree(&selection, shape);
        let mut lines = TextTable::new(&["inclusive %", "own %", "function"]);
        let mut rows = Vec::new();
        for node in in_order(&nodes) {
            let mut row = match node.label {
                CallLabel::Function(id) => {
                    function(profile, &selection.function(id), selection.marks())
                }
                CallLabel::Truncated => {
                    Map::from_iter([("function".to_owned(), json!("[truncated]"))])
                }
            };
            let indent = "  ".repeat(node.depth.min(DEEPEST_INDENT));
            let shares = [node.inclusive, node.own].map(|cost| share(cost, total));
            let [inclusive, own] = shares;
            lines.push(vec![inclusive, own, format!("{indent}{}", label(&row))]);
            row.insert("depth".to_owned(), json!(node.depth));
            add_costs(&mut row, [node.own, node.inclusive], total, unit);
            rows.push(Value::Object(row));
        }
        let mut answer = counted.answer(&loaded.name);
        answer.set("bottom_up", args.bottom_up);
        answer.text.push_str(&lines.text());
        answer.set("rows", rows);
        answer.omit(omitted);
        answer
    }))
}

/// Returns the nodes with each parent directly before its children, and siblings sorted by decreasing cost.
fn in_order(nodes: &[TreeRow]) -> Vec<&TreeRow> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut roots = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        let siblings = node.parent.and_then(|parent| children.get_mut(parent));
        siblings.unwrap_or(&mut roots).push(at);
    }
    let cost = |&at: &usize| Reverse(nodes.get(at).map_or(0, |node| node.inclusive.weight));
    for siblings in children.iter_mut().chain([&mut roots]) {
        siblings.sort_by_key(cost);
        siblings.reverse();
    }
    let mut ordered = Vec::with_capacity(nodes.len());
    let mut pending = roots;
    while let Some(at) = pending.pop() {
        ordered.extend(nodes.get(at));
        pending.extend(children.get(at).into_iter().flatten());
    }
    ordered
}
