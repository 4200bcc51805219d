//! The tool `quality`.

use formats::{ShortSummary, SummaryStyles, write_short_summary};
use hashbrown::HashMap;
use pipeline::Analysis;
use profile::{Advice, EndReason, ModuleKind, Profile};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Call;
use super::recordings::complete;
use crate::answer::Answer;
use crate::arguments::RecordingName;
use crate::refusal::Refusal;
use crate::text::{of_profile, percent, safe, safe_lines};

/// Most rows of each list.
const ROWS: usize = 50;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(default)]
#[derive(Default)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Args {
    /// Name or number of the recording in `recordings`. It can be omitted if there is only one.
    recording: Option<RecordingName>,
}

pub(super) fn answer(call: &Call<'_>, args: &Args) -> Result<Answer, Refusal> {
    let loaded = call.load(args.recording.as_ref(), false, &options::ValueOptions::default())?;
    let analysis: &Analysis = &loaded.profile;
    let profile = &analysis.profile;
    let summary = summary(profile);
    let (ends, modules, findings) = (ends(profile), modules(profile), findings(profile));
    let samples = profile.samples.len();
    Ok(Answer::within(ROWS, "the tool `recordings`, for other recordings", |most| {
        let mut answer = Answer::default();
        answer.line(format!("{}:", loaded.name));
        answer.text.push_str(&summary);
        answer.set("recording", loaded.name.clone());
        answer.set("samples", samples);
        answer.set("lost_samples", profile.summary.lost_samples);
        answer.set("complete_stacks", complete(profile));
        answer.set("complete_stacks_percent", percent(complete(profile) as f64, samples as f64));
        answer.set("is_damaged", analysis.is_damaged);
        answer.set("ends", ends.clone());
        let mut omitted = 0;
        for (name, all) in [("modules", &modules), ("findings", &findings)] {
            let shown = all.get(..most).unwrap_or(all);
            omitted += all.len() - shown.len();
            answer.set(name, shown.to_vec());
        }
        answer.omit(omitted);
        answer
    }))
}

/// Returns the short summary of a run.
fn summary(profile: &Profile) -> String {
    let look = ShortSummary {
        styles: SummaryStyles::plain(),
        width: None,
        // The database of packages is no file of a recording.
        packages: &|paths| vec![None; paths.len()],
    };
    let mut text = Vec::new();
    // Writing to memory does not fail.
    let _ = write_short_summary(profile, &look, &mut text);
    format!("{}\n", safe_lines(&String::from_utf8_lossy(&text)))
}

/// Returns the ends of stacks with their numbers of samples.
fn ends(profile: &Profile) -> Vec<Value> {
    let mut ends: Vec<(EndReason, u64)> =
        EndReason::ALL.iter().copied().zip(profile.end_counts()).collect();
    ends.retain(|(_, count)| *count > 0);
    ends.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let samples = profile.samples.len() as f64;
    let row = |(end, count): (EndReason, u64)| {
        json!({
            "end": end.as_str(),
            "complete": end.is_complete(),
            "samples": count,
            "percent": percent(count as f64, samples),
        })
    };
    ends.into_iter().map(row).collect()
}

/// A module at which stacks end, or frames have no name.
#[derive(Default)]
struct ModuleLosses<'p> {
    samples: u64,
    frames: u64,
    reason: Option<&'p str>,
    help: Option<&'p Advice>,
}

/// Returns the modules that cost stacks or names, those of most samples first, with remedies.
fn modules(profile: &Profile) -> Vec<Value> {
    let mut order = Vec::new();
    let mut rows: HashMap<_, ModuleLosses<'_>> = HashMap::new();
    for loss in &profile.summary.losses {
        order.push(loss.module);
        let row = rows.entry(loss.module).or_default();
        row.samples += loss.samples;
        row.reason = row.reason.or(Some(&loss.reason));
        row.help = row.help.or(loss.help.as_ref());
    }
    for nameless in &profile.summary.nameless {
        order.push(nameless.module);
        let row = rows.entry(nameless.module).or_default();
        row.frames += nameless.frames;
        row.help = row.help.or(nameless.help.as_ref());
    }
    let rows = order.into_iter().filter_map(|id| {
        let row = rows.remove(&id)?;
        let module = id.and_then(|id| profile.modules.get(id));
        let is_missing = module.is_some_and(|it| it.kind == ModuleKind::Elf && it.opened.is_none());
        let mut object = Map::new();
        object.insert("module".to_owned(), json!(module.map(|it| of_profile(profile, it.path))));
        let build_id = module.and_then(|it| it.build_id).map(|id| id.to_string());
        object.insert("build_id".to_owned(), json!(build_id));
        object.insert("file_is_missing".to_owned(), json!(is_missing));
        object.insert("ended_samples".to_owned(), json!(row.samples));
        object.insert("nameless_frames".to_owned(), json!(row.frames));
        let reason = row.reason.map(|reason| safe(reason.as_bytes()));
        object.insert("reason".to_owned(), json!(reason));
        object.insert("remedy".to_owned(), json!(row.help.map(|it| safe(it.text.as_bytes()))));
        Some(Value::Object(object))
    });
    rows.collect()
}

fn findings(profile: &Profile) -> Vec<Value> {
    let rows = profile.summary.findings.iter().map(|row| {
        json!({
            "kind": row.kind,
            "count": row.count,
            "message": safe(row.message.as_bytes()),
            "remedy": row.help.as_ref().map(|help| safe(help.text.as_bytes())),
        })
    });
    rows.collect()
}
