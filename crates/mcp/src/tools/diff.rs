//! The tool `diff`.

use std::str::FromStr as _;

use formats::{ConsoleLook, DiffFormat, DiffPrintOptions, diff_function, diff_notes};
use options::{CostKind, Spelling};
use profile::query::diff::{
    Change, Diff, DiffCost, DiffFunction, DiffInput, DiffOptions, DiffPair, Normalization, diff,
};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Call;
use crate::answer::Answer;
use crate::arguments::{RecordingName, Word, rows, wrong};
use crate::refusal::Refusal;
use crate::text::{percent, safe};

/// Default number of functions.
const ROWS: usize = 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Args {
    /// Name or number of the recording before.
    before: RecordingName,
    /// Name or number of the recording after.
    after: RecordingName,
    /// Cost by which functions are ranked and judged.
    #[serde(default)]
    by: Word<CostKind>,
    /// Divisor of costs: `time`, `share`, `samples`, or `A=NUMBER,B=NUMBER` for the work before and after. Default:
    /// `time` if events, rates and threads are equal, else `share`.
    normalize: Option<String>,
    /// The compared event.
    event: Option<String>,
    /// Pairs `A=B` of modules of different names that are compared.
    #[serde(default)]
    pair: Vec<String>,
    /// Most functions; 20 if it is omitted.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
}

pub(super) fn answer(call: &Call<'_>, args: &Args) -> Result<Answer, Refusal> {
    let limit = rows(args.limit, ROWS)?;
    let normalization = args.normalize.as_deref().map(str::parse::<Normalization>).transpose();
    let normalization = normalization.map_err(|reason| wrong("normalize", reason))?;
    let pairs = args.pair.iter().map(|text| DiffPair::from_str(text));
    let pairs = pairs.collect::<Result<Vec<_>, _>>().map_err(|reason| wrong("pair", reason))?;
    let load = |recording: &RecordingName| {
        let at = call.recordings.find(Some(recording))?;
        call.recordings.load_event(at, args.event.as_deref(), &call.stop)
    };
    let (before, after) = (load(&args.before)?, load(&args.after)?);
    let [before, after] = [&before, &after]
        .map(|loaded| [DiffInput { name: &loaded.name, profile: &loaded.profile.profile }]);
    let inlines = call.recordings.options.options.names.inlines;
    let options = DiffOptions { normalization, exact_names: false, inlines, pairs: &pairs };
    let compared =
        diff(&before, &after, options).map_err(|error| Refusal::new(error.to_string()))?;
    let inclusive = args.by.0 == CostKind::Inclusive;
    let ranked: Vec<&DiffFunction> =
        compared.ranked(inclusive).into_iter().map(|(_, row)| row).collect();
    let notes: Vec<String> = diff_notes(&compared, Spelling::KEYS);
    Ok(Answer::within(limit, "limit", |most| {
        let mut answer = Answer::default();
        let look = ConsoleLook { width: Some(140), ..ConsoleLook::default() };
        let print = DiffPrintOptions { inclusive, limit: most.max(1), look, gate: None };
        let mut text = Vec::new();
        // Writing to memory does not fail.
        let _ = DiffFormat::Text.print(&compared, print, &mut text);
        answer.text = String::from_utf8_lossy(&text).into_owned();
        let scale = Scale::of(&compared);
        answer.set("before", side(&compared, 0));
        answer.set("after", side(&compared, 1));
        answer.set("event", safe(compared.event.as_bytes()));
        answer.set("normalization", compared.normalization.as_str());
        answer.set("unit", scale.unit.clone());
        answer.set("method", compared.method.as_str());
        answer.set("tested_functions", compared.tested[usize::from(inclusive)]);
        let is_changed = |row: &&&DiffFunction| change(row, inclusive).marked;
        answer.set("changed_functions", ranked.iter().filter(is_changed).count());
        answer.set("total", scale.change(&compared.total));
        let [before, after] = compared.not_compared_shares().map(|share| percent(share, 1.0));
        answer.set("not_compared_percent", json!({ "before": before, "after": after }));
        answer.set("notes", notes.clone());
        let shown = ranked.get(..most).unwrap_or(&ranked);
        let rows = shown.iter().map(|row| {
            let (function, module) = diff_function(&compared, row);
            let mut object = scale.change(change(row, inclusive));
            object["function"] = json!(function);
            object["module"] = json!(module);
            object
        });
        answer.set("rows", rows.collect::<Vec<_>>());
        // The text has its own line on omitted functions.
        answer.set("omitted", ranked.len() - shown.len());
        answer
    }))
}

fn change(row: &DiffFunction, inclusive: bool) -> &Change {
    if inclusive { &row.inclusive } else { &row.own }
}

/// Returns the facts of the recording before (0) or after (1).
fn side(diff: &Diff, side: usize) -> Value {
    let runs = if side == 0 { &diff.before } else { &diff.after };
    let run = runs.runs.first();
    json!({
        "recording": run.map(|run| safe(run.name.as_bytes())),
        "samples": run.map(|run| run.total.samples),
        "seconds": run.and_then(|run| run.seconds),
        "complete_stacks_percent": percent(runs.complete_share(), 1.0),
    })
}

/// Unit of compared values.
struct Scale {
    unit: String,
    factor: f64,
}

impl Scale {
    fn of(diff: &Diff) -> Self {
        let unit = diff.unit.unwrap_or("samples");
        match diff.normalization {
            Normalization::Share => Self { unit: "percent of the total".to_owned(), factor: 100.0 },
            Normalization::Time => Self { unit: format!("{unit} per second"), factor: 1.0 },
            Normalization::Samples => Self { unit: "samples".to_owned(), factor: 1.0 },
            Normalization::Work { .. } => {
                Self { unit: format!("{unit} per unit of work"), factor: 1.0 }
            }
        }
    }

    /// Returns a change: values in the unit, its interval of 95 % confidence, and the probability that chance alone
    /// makes such a difference.
    fn change(&self, change: &Change) -> Value {
        let value = |value: f64| json!(value * self.factor);
        let side = |cost: DiffCost| json!({ "samples": cost.samples, "value": value(cost.value) });
        json!({
            "before": side(change.before),
            "after": side(change.after),
            "change": value(change.delta()),
            "interval_95": change.interval.map(|interval| interval.map(value)),
            "p": change.p,
            "changed": change.marked,
        })
    }
}
