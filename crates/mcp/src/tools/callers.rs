//! The tool `callers`.

use options::GroupBy;
use profile::Profile;
use profile::query::engine::{Selection, neighbors};
use profile::query::{Cost, FunctionId, Functions};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Call;
use super::cost_rows::{add_costs, function, label, scale};
use super::functions::{OTHERS, find};
use crate::answer::Answer;
use crate::arguments::{CountedArgs, FilterArgs, rows};
use crate::refusal::Refusal;
use crate::selected::{Counted, select};
use crate::text::{TextTable, cost_of, share};

/// Default number of callers, and of callees.
const ROWS: usize = 20;

/// Name of the missing caller of an outermost frame.
const OUTERMOST: &str = "[none: the stack begins here]";

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Args {
    /// The function: its name or a part of it; `FILE:NAME`, an address, or `NAME (MARK)` selects one of several.
    function: String,
    #[serde(flatten)]
    counted: CountedArgs,
    #[serde(default)]
    filter: FilterArgs,
    /// Most callers, and most callees; 20 if it is omitted.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
}

/// A caller or callee.
struct Neighbor {
    row: Map<String, Value>,
    cost: Cost,
}

pub(super) fn answer(call: &Call<'_>, args: &Args) -> Result<Answer, Refusal> {
    let limit = rows(args.limit, ROWS)?;
    let loaded = call.load_counted(&args.counted)?;
    let profile = &loaded.profile.profile;
    let selection = select(&loaded, GroupBy::Function, &args.counted, &args.filter)?;
    let functions = Functions::new(profile, loaded.inlines);
    let found = find(profile, &selection, &functions, &args.function)?;
    let Some((&id, others)) = found.split_first() else {
        return Err(Refusal::new("no such function"));
    };
    let (total, unit) = scale(&selection);
    let neighbors = neighbors(&selection, id);
    let named = |id| named(profile, &selection, id);
    let callers: Vec<Neighbor> = neighbors
        .callers
        .iter()
        .map(|&(caller, cost)| Neighbor {
            row: caller
                .map_or_else(|| Map::from_iter([("function".to_owned(), json!(OUTERMOST))]), named),
            cost,
        })
        .collect();
    let callees: Vec<Neighbor> =
        neighbors.callees.iter().map(|&(id, cost)| Neighbor { row: named(id), cost }).collect();
    let also: Vec<String> = others.iter().take(OTHERS).map(|&id| label(&named(id))).collect();
    let counted = Counted::of(profile, &selection);
    Ok(Answer::within(limit, "limit or filter", |most| {
        let mut answer = counted.answer(&loaded.name);
        let mut row = named(id);
        answer.line(format!(
            "{}: own {} %, inclusive {} %",
            label(&row),
            share(neighbors.own, total),
            share(neighbors.inclusive, total)
        ));
        add_costs(&mut row, [neighbors.own, neighbors.inclusive], total, unit);
        answer.set("function", row);
        if !also.is_empty() {
            answer.line(format!("also with such a name: {}", also.join(", ")));
            answer.set("also", also.clone());
        }
        let mut omitted = 0;
        for (kind, all) in [("callers", &callers), ("callees", &callees)] {
            let shown = all.get(..most).unwrap_or(all);
            omitted += all.len() - shown.len();
            let mut lines = TextTable::new(&["%", "samples", kind]);
            let mut rows = Vec::new();
            for Neighbor { row, cost } in shown {
                lines.push(vec![share(*cost, total), cost.samples.to_string(), label(row)]);
                let mut row = row.clone();
                row.insert("cost".to_owned(), cost_of(*cost, total, unit));
                rows.push(Value::Object(row));
            }
            answer.text.push_str(&lines.text());
            answer.set(kind, rows);
        }
        answer.omit(omitted);
        answer
    }))
}

fn named(profile: &Profile, selection: &Selection<'_>, id: FunctionId) -> Map<String, Value> {
    function(profile, &selection.function(id), selection.marks())
}
