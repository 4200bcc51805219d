//! The tool `top`.

use formats::RowKeys;
use options::{ChoiceOrValue, CostKind, GroupBy};
use profile::query::engine::{RowKey, TableRow, TableShape, table};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Call;
use super::cost_rows::{add_costs, label, scale};
use crate::answer::Answer;
use crate::arguments::{CountedArgs, FilterArgs, Word, WordOrValue, rows, wrong};
use crate::refusal::Refusal;
use crate::selected::{Counted, is_off_cpu, select};
use crate::text::{TextTable, safe_value, share};

/// Default number of rows.
const ROWS: usize = 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Args {
    #[serde(flatten)]
    counted: CountedArgs,
    // The type describes it.
    #[serde(default)]
    by: WordOrValue<GroupBy>,
    /// Cost by which rows are sorted.
    #[serde(default)]
    sort: Word<CostKind>,
    #[serde(default)]
    filter: FilterArgs,
    /// Most rows; 20 if it is omitted.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
}

pub(super) fn answer(call: &Call<'_>, args: &Args) -> Result<Answer, Refusal> {
    let limit = rows(args.limit, ROWS)?;
    if args.by.0 == GroupBy::Wait.into() && !is_off_cpu(&args.counted) {
        return Err(wrong("by", "wait groups times off the processor; set weight to off-cpu"));
    }
    let loaded = call.load_grouped(&args.counted, args.by.0.value())?;
    let profile = &loaded.profile.profile;
    let by = &args.by.0;
    let group = by.choice().unwrap_or_default();
    let selection = select(&loaded, group, &args.counted, &args.filter)?;
    let pools = call.recordings.options.options.names.fold_threads;
    let shape = TableShape { pools, sort: args.sort.0, ..TableShape::of(by) };
    let (all, _) = table(&selection, shape);
    let keys = RowKeys::new(profile, &selection, by, pools, &all);
    let (total, unit) = scale(&selection);
    let named: Vec<(Map<String, Value>, &TableRow)> = all
        .iter()
        .take(limit)
        .map(|row| {
            let mut object = key(&keys, row.key);
            add_costs(&mut object, [row.own, row.inclusive], total, unit);
            (object, row)
        })
        .collect();
    let counted = Counted::of(profile, &selection);
    Ok(Answer::within(named.len(), "limit, filter.focus or filter.module", |most| {
        let mut answer = counted.answer(&loaded.name);
        answer.set("by", by.as_str());
        let shown = named.get(..most).unwrap_or(&named);
        let mut lines = TextTable::new(&["own %", "inclusive %", "own samples", by.as_str()]);
        for (object, row) in shown {
            let shares = [row.own, row.inclusive].map(|cost| share(cost, total));
            let [own, inclusive] = shares;
            lines.push(vec![own, inclusive, row.own.samples.to_string(), name(by, object)]);
        }
        answer.text.push_str(&lines.text());
        let objects = shown.iter().map(|(object, _)| Value::Object(object.clone()));
        answer.set("rows", objects.collect::<Vec<_>>());
        answer.omit(all.len() - shown.len());
        answer
    }))
}

/// Returns the members that identify a row.
fn key(keys: &RowKeys<'_>, key: RowKey) -> Map<String, Value> {
    let named = keys.named(key).into_iter();
    let is_optional = |name: &str| ["mark", "missing"].contains(&name);
    let named = named.filter(|(name, value)| !is_optional(name) || !value.is_null());
    named.map(|(name, value)| (name.to_owned(), safe_value(value))).collect()
}

/// Returns a row's name for a table as text.
fn name(by: &ChoiceOrValue<GroupBy>, row: &Map<String, Value>) -> String {
    let text = |name: &str| match row.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => "[unknown]".to_owned(),
        Some(value) => value.to_string(),
    };
    let Some(group) = by.choice() else {
        return match row.get("missing") {
            Some(Value::String(missing)) => format!("[{missing}]"),
            _ => text("value"),
        };
    };
    match group {
        GroupBy::Function => label(row),
        GroupBy::Line => format!("{}:{} {}", text("file"), text("line"), label(row)),
        GroupBy::Thread => format!("{} {}", text("thread"), text("tid")),
        GroupBy::Process => format!("{} {}", text("process"), text("pid")),
        _ => text(group.as_str()),
    }
}
