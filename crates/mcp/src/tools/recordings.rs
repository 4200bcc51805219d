//! The tool `recordings`.

use chrono::{DateTime, SecondsFormat, Utc};
use formats::counted;
use hashbrown::HashMap;
use profile::query::event_name;
use profile::{ById as _, EndReason, Profile, StringId};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Call;
use crate::answer::Answer;
use crate::recordings::Loaded;
use crate::refusal::Refusal;
use crate::text::{TextTable, of_profile, percent, safe};

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Args {}

pub(super) fn answer(call: &Call<'_>, _: &Args) -> Result<Answer, Refusal> {
    let names = call.recordings.names();
    let mut rows = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let row = call.recordings.described(at, &call.stop, described);
        if (call.stop)() {
            return Err(Refusal::new("the call was cancelled"));
        }
        let mut row = match row {
            Ok(row) => row,
            // Other recordings are listed nevertheless.
            Err(refusal) => json!({ "error": refusal.to_string() }),
        };
        row["number"] = json!(at + 1);
        row["name"] = json!(name);
        rows.push(row);
    }
    Ok(Answer::within(rows.len(), "fewer recordings of this server", |most| {
        let mut answer = Answer::default();
        let shown = rows.get(..most).unwrap_or(&rows);
        answer.line(counted(rows.len() as u64, "recording"));
        answer.text.push_str(&table(shown));
        for row in shown.iter().filter_map(|row| row["error"].as_str()) {
            answer.line(format!("not readable: {row}"));
        }
        answer.set("rows", shown.to_vec());
        answer.omit(rows.len() - shown.len());
        answer
    }))
}

fn table(rows: &[Value]) -> String {
    let mut table =
        TextTable::new(&["number", "samples", "seconds", "complete %", "program", "name"]);
    for row in rows.iter().filter(|row| row["error"].is_null()) {
        let cell = |name: &str| match &row[name] {
            Value::Null => "-".to_owned(),
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        let columns =
            ["number", "samples", "duration_seconds", "complete_stacks_percent", "program", "name"];
        table.push(columns.map(cell).into());
    }
    table.text()
}

fn described(loaded: &Loaded) -> Value {
    let profile = &loaded.profile.profile;
    let facts = &profile.recording;
    let text = |id: Option<StringId>| id.map(|id| of_profile(profile, id));
    let command: Vec<String> =
        facts.command_line.iter().map(|&word| of_profile(profile, word)).collect();
    let times = || profile.samples.iter().filter_map(|sample| sample.time());
    let (first, last) = (times().min(), times().max());
    let begin = first.and_then(|first| facts.wall_clock?.utc(first)).and_then(date);
    let nanoseconds = first.zip(last).map(|(first, last)| last.0 - first.0);
    let complete = complete(profile);
    json!({
        "program": program(profile),
        "command": (!command.is_empty()).then(|| command.join(" ")),
        "host": text(facts.hostname),
        "kernel": text(facts.os_release),
        "processor": text(facts.arch),
        "date": begin,
        "duration_seconds": nanoseconds.map(|it| it as f64 / 1e9),
        "samples": profile.samples.len(),
        "lost_samples": profile.summary.lost_samples,
        "events": events(profile),
        "complete_stacks_percent": percent(complete as f64, profile.samples.len() as f64),
    })
}

/// Returns the number of samples with a complete stack.
pub(super) fn complete(profile: &Profile) -> u64 {
    let ends = EndReason::ALL.iter().zip(profile.end_counts());
    ends.filter(|(end, _)| end.is_complete()).map(|(_, count)| count).sum()
}

/// Returns a time of day, given in nanoseconds since 1970.
fn date(nanoseconds: u64) -> Option<String> {
    let seconds = i64::try_from(nanoseconds / 1_000_000_000).ok()?;
    let time = DateTime::<Utc>::from_timestamp(seconds, 0)?;
    Some(time.to_rfc3339_opts(SecondsFormat::Secs, true))
}

/// Returns the name of the process with the most samples.
fn program(profile: &Profile) -> Option<String> {
    let mut counts: HashMap<StringId, u64> = HashMap::new();
    for thread in profile.samples.iter().filter_map(|row| profile.threads.get(row.thread)) {
        *counts.entry(thread.process).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|&(name, count)| (count, std::cmp::Reverse(name)));
    most.map(|(name, _)| of_profile(profile, name))
}

fn events(profile: &Profile) -> Vec<Value> {
    let mut counts = vec![0_u64; profile.events.len()];
    for sample in &profile.samples {
        if let Some(count) = counts.by_id_mut(sample.event) {
            *count += 1;
        }
    }
    let counted = profile.events.ids().zip(counts);
    let row = |(id, samples)| {
        let mut row = Map::new();
        row.insert("name".to_owned(), json!(safe(event_name(profile, id))));
        row.insert("samples".to_owned(), json!(samples));
        Value::Object(row)
    };
    counted.map(row).collect()
}
