//! The tool `spans`.

use formats::SpanDocument;
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::Call;
use crate::answer::Answer;
use crate::arguments::{RecordingName, rows, wrong};
use crate::refusal::Refusal;
use crate::text::{TextTable, of_profile};
use crate::values::ValueArgs;

/// Default number of rows.
const ROWS: usize = 20;

/// Columns of the text, after the number of spans, in milliseconds.
const TIMES: [&str; 6] = ["total", "self", "p50", "p90", "p99", "max"];

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Args {
    /// Name or number of the recording in `recordings`. It can be omitted if there is only one.
    recording: Option<RecordingName>,
    #[serde(flatten)]
    values: ValueArgs,
    /// Label, or field of the events that begin spans, whose values group them.
    by: Option<String>,
    /// Most rows; 20 if it is omitted.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
}

pub(super) fn answer(call: &Call<'_>, args: &Args) -> Result<Answer, Refusal> {
    let limit = rows(args.limit, ROWS)?;
    let mut values = args.values.options()?;
    if !values.has_spans() {
        let reason = "spans need at least one, such as request=server:start,server:done";
        return Err(wrong("span", reason));
    }
    if let Some(name) = &args.by {
        values.add_values(name);
    }
    let loaded = call.load(args.recording.as_ref(), false, &values)?;
    let profile = &loaded.profile.profile;
    Ok(Answer::within(limit, "limit", |most| {
        let document =
            SpanDocument::new(profile, args.by.as_deref(), most, &|id| of_profile(profile, id));
        let mut answer = Answer::default();
        answer.set("recording", loaded.name.clone());
        if let Ok(Value::Object(document)) = serde_json::to_value(document) {
            let rows = document.get("rows").and_then(Value::as_array);
            answer.line(format!("{}: durations of spans in milliseconds", loaded.name));
            answer.text.push_str(&table(rows.map_or(&[][..], Vec::as_slice)));
            answer.json.extend(document);
        }
        let omitted = answer.json.remove("left_out").and_then(|it| it.as_u64()).unwrap_or(0);
        answer.omit(usize::try_from(omitted).unwrap_or(usize::MAX));
        answer
    }))
}

/// Returns the rows as text.
fn table(rows: &[Value]) -> String {
    let headings = ["spans"].into_iter().chain(TIMES).chain(["span"]);
    let mut table = TextTable::new(&headings.collect::<Vec<_>>());
    for row in rows {
        let milliseconds = |name: &str| {
            format!("{:.3}", row[name].as_u64().map_or(0.0, |nanoseconds| nanoseconds as f64 / 1e6))
        };
        let name = row["span"].as_str().unwrap_or_default();
        let name = match (&row["value"], &row["missing"]) {
            (Value::String(text), _) => format!("{name} {text}"),
            (Value::Null, Value::String(missing)) => format!("{name} [{missing}]"),
            (Value::Null, _) => name.to_owned(),
            (value, _) => format!("{name} {value}"),
        };
        let mut cells = vec![row["spans"].to_string()];
        cells.extend(TIMES.map(milliseconds));
        cells.push(name);
        table.push(cells);
    }
    table.text()
}
