//! Descriptions of a recording: its header, and the account of the run.

use std::borrow::Cow;

use profile::ById as _;
use profile::query::event_name;
use profile::{EndReason, Profile, StringId};
use serde::Serialize;

/// Maximum number of listed threads; the tables contain all.
const MOST_THREADS: usize = 1000;

/// Header of a recording.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) struct RecordingHeader {
    command_line: Vec<String>,
    /// The recorded program and its arguments; `None` if the recorder did not start it.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    perf: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    processor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stack_bytes: Option<u32>,
    events: Vec<String>,
}

/// Account of a run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) struct About {
    #[serde(flatten)]
    header: RecordingHeader,
    samples: u64,
    /// Samples with a chain that reaches its root without a gap.
    complete: u64,
    /// Samples that the kernel reported as lost.
    lost: u64,
    /// Duration from the first sample to the last, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    damaged: bool,
    ends: Vec<NamedCount>,
    event_samples: Vec<NamedCount>,
    threads: Vec<Thread>,
    /// Number of threads that the list omits.
    more_threads: usize,
    losses: Vec<Loss>,
    findings: Vec<RunFinding>,
    files: Vec<ModuleFile>,
}

#[derive(Debug, Serialize)]
struct NamedCount {
    name: String,
    samples: u64,
}

#[derive(Debug, Serialize)]
struct Thread {
    pid: i32,
    tid: i32,
    comm: String,
}

#[derive(Debug, Serialize)]
struct Loss {
    #[serde(skip_serializing_if = "Option::is_none")]
    module: Option<String>,
    samples: u64,
    reason: String,
    help: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<Cow<'static, str>>,
}

#[derive(Debug, Serialize)]
struct RunFinding {
    kind: String,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<Cow<'static, str>>,
    count: u64,
}

/// File that was opened for a module.
#[derive(Debug, Serialize)]
struct ModuleFile {
    path: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    build_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    opened: Option<String>,
}

/// Returns a string of a profile as text of limited length, for strings that an answer can repeat any number of times.
pub(super) fn short_text(profile: &Profile, id: StringId) -> String {
    String::from_utf8_lossy(&formats::short_text(profile.strings.get(id))).into_owned()
}

/// Returns a string of a profile as text.
pub(super) fn text(profile: &Profile, id: StringId) -> String {
    String::from_utf8_lossy(profile.strings.get(id)).into_owned()
}

/// Returns the header of a profile's recording.
pub(super) fn header(profile: &Profile) -> RecordingHeader {
    let facts = &profile.recording;
    let maybe = |id: Option<StringId>| id.map(|id| text(profile, id));
    let word = |word: &&[u8]| String::from_utf8_lossy(word).into_owned();
    RecordingHeader {
        command_line: facts.command_line.iter().map(|&id| text(profile, id)).collect(),
        command: profile::query::recorded_command(profile)
            .map(|words| words.iter().map(word).collect()),
        host: maybe(facts.hostname),
        kernel: maybe(facts.os_release),
        arch: maybe(facts.arch),
        perf: maybe(facts.perf_version),
        processor: maybe(facts.cpu_desc),
        stack_bytes: facts.stack_bytes,
        events: profile.events.iter().map(|event| text(profile, event.name)).collect(),
    }
}

/// Returns the account of the run that produced a profile.
pub(super) fn about(profile: &Profile, damaged: bool) -> About {
    let summary = &profile.summary;
    let ends: Vec<(EndReason, u64)> =
        EndReason::ALL.iter().copied().zip(profile.end_counts()).collect();
    let complete = ends.iter().filter(|(end, _)| end.is_complete()).map(|(_, count)| count).sum();
    let ends = ends.iter().filter(|(_, count)| *count > 0);
    let threads = profile.threads.iter().take(MOST_THREADS).map(|thread| Thread {
        pid: thread.pid.0,
        tid: thread.tid.0,
        comm: short_text(profile, thread.comm),
    });
    About {
        header: header(profile),
        samples: profile.counted_samples().count() as u64,
        complete,
        lost: summary.lost_samples,
        seconds: seconds(profile),
        damaged,
        ends: ends
            .map(|(end, count)| NamedCount { name: end.as_str().to_owned(), samples: *count })
            .collect(),
        event_samples: event_samples(profile),
        threads: threads.collect(),
        more_threads: profile.threads.len().saturating_sub(MOST_THREADS),
        losses: losses(profile),
        findings: findings(profile),
        files: files(profile),
    }
}

/// Returns the duration from the first sample to the last, in seconds.
fn seconds(profile: &Profile) -> Option<f64> {
    let times = || profile.samples.iter().filter_map(|sample| sample.time());
    let (first, last) = (times().min()?, times().max()?);
    Some((last.0 - first.0) as f64 / 1e9)
}

fn event_samples(profile: &Profile) -> Vec<NamedCount> {
    let mut counts = vec![0; profile.events.len()];
    for sample in &profile.samples {
        if let Some(count) = counts.by_id_mut(sample.event) {
            *count += 1;
        }
    }
    let counted = profile.events.ids().zip(counts);
    let name = |id| String::from_utf8_lossy(event_name(profile, id)).into_owned();
    counted.map(|(id, samples)| NamedCount { name: name(id), samples }).collect()
}

fn losses(profile: &Profile) -> Vec<Loss> {
    let rows = profile.summary.losses.iter().map(|loss| Loss {
        module: loss
            .module
            .and_then(|id| profile.modules.get(id))
            .map(|module| short_text(profile, module.path)),
        samples: loss.samples,
        reason: loss.reason.clone(),
        help: loss.help.as_ref().map_or_else(String::new, |help| help.text.clone()),
        remedy: loss.help.as_ref().map(|help| help.code.clone()),
    });
    rows.collect()
}

fn findings(profile: &Profile) -> Vec<RunFinding> {
    let rows = profile.summary.findings.iter().map(|row| RunFinding {
        kind: row.kind.to_string(),
        message: row.text().into_owned(),
        remedy: row.help.as_ref().map(|help| help.code.clone()),
        count: row.count,
    });
    rows.collect()
}

fn files(profile: &Profile) -> Vec<ModuleFile> {
    let rows = profile.modules.iter().map(|module| ModuleFile {
        path: text(profile, module.path),
        kind: module.kind.as_str(),
        build_id: module.build_id.map(|id| id.to_string()),
        opened: module.opened.map(|id| text(profile, id)),
    });
    rows.collect()
}
