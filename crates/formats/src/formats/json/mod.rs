//! The default format: the tables of a profile in columns, as one JSON document.
//! `docs/OUTPUT.md` describes the fields; `docs/stacks.schema.json` is the JSON Schema.

mod stack_needs;
mod tables;
mod writer;

use std::io;

use crate::facts::FormatFacts;
use crate::printer::Printer;
use crate::render::encoding::json_writer::JsonWriter;
use crate::render::inline_rows::InlineRows;
use profile::query::{FoundCounts, found_counts};
use profile::{
    Advice, EndReason, FoundBy, ModuleKind, ModuleLoss, Profile, RecordingInfo, RowId as _,
    StringId, Strings,
};
use writer::{JsonDocument, string};

/// Version, incremented by changes that break readers: a field is removed or changes its meaning.
const VERSION: u32 = 1;

/// Revision, incremented by compatible changes: a new field or keyword.
const REVISION: u32 = 12;

/// Prints the tables as one JSON document.
#[derive(Debug, Clone, Copy)]
pub struct Json {
    /// Whether the table of inlines contains the inlined functions, or only the functions that contain them.
    pub inlines: bool,
}

impl Json {
    /// Name, file name endings and weights of the format.
    pub(crate) const FACTS: FormatFacts = FormatFacts::text(
        "json",
        "tables in columns, in one document (the default)",
        &[".json"],
        "application/json",
    );
}

impl Printer for Json {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        let (rows, found) =
            rayon::join(|| InlineRows::new(profile, self.inlines), || found_counts(profile));
        let mut json = JsonDocument::default();
        json.text.begin_object();
        json.text.key("meta").object(|json| {
            json.key("schema").string("unwind-perf-stacks");
            json.key("version").number(VERSION);
            json.key("revision").number(REVISION);
            json.key("generator").string(concat!("unwind-perf ", env!("CARGO_PKG_VERSION")));
        });
        recording(json.text.line().key("recording"), &profile.recording, &profile.strings);
        keywords(json.text.line().key("words"));
        json.text.line().key("strings");
        json.elements(profile.strings.len(), |out, index| {
            string(out, profile.strings.get(StringId::from_index(index)));
        });
        tables::add(&mut json, profile, &rows);
        summary(json.text.line().key("summary"), profile, &found);
        json.text.end_object();
        json.text.end_line();
        json.write(out)
    }
}

/// Returns the recording's header as a separate document, for formats that store it outside of their tables.
#[cfg(feature = "arrow")]
pub(crate) fn recording_json(profile: &Profile) -> String {
    let mut json = JsonWriter::default();
    recording(&mut json, &profile.recording, &profile.strings);
    json.into_text()
}

/// Returns the summary of the run as a separate document.
#[cfg(feature = "arrow")]
pub(crate) fn summary_json(profile: &Profile) -> String {
    let mut json = JsonWriter::default();
    summary(&mut json, profile, &found_counts(profile));
    json.into_text()
}

/// Appends the recording's header; unknown facts are omitted.
fn recording(json: &mut JsonWriter, recording: &RecordingInfo, strings: &Strings) {
    json.object(|json| {
        let words = recording.command_line.iter().map(|&id| strings.get(id));
        json.key("command_line").array(words, JsonWriter::string);
        let facts = [
            ("hostname", recording.hostname),
            ("os_release", recording.os_release),
            ("arch", recording.arch),
            ("perf_version", recording.perf_version),
            ("cpu_desc", recording.cpu_desc),
            ("cpu_id", recording.cpu_id),
        ];
        for (name, id) in facts.into_iter().filter_map(|(name, id)| Some((name, id?))) {
            json.key(name).string(strings.get(id));
        }
        let counts = [
            ("cpus_online", recording.cpus_online.map(u64::from)),
            ("cpus_available", recording.cpus_available.map(u64::from)),
            ("total_memory_kib", recording.total_memory_kib),
        ];
        for (name, count) in counts.into_iter().filter_map(|(name, count)| Some((name, count?))) {
            json.key(name).number(count);
        }
    });
}

/// Appends the lists of keywords that columns index into.
fn keywords(json: &mut JsonWriter) {
    json.object(|json| {
        json.key("end").array(EndReason::ALL, |json, keyword| json.string(keyword.as_str()));
        json.key("found_by").array(FoundBy::ALL, |json, keyword| json.string(keyword.as_str()));
        json.key("module_kind")
            .array(ModuleKind::ALL, |json, keyword| json.string(keyword.as_str()));
    });
}

/// Appends the summary of the run.
fn summary(json: &mut JsonWriter, profile: &Profile, found: &FoundCounts) {
    let summary = &profile.summary;
    json.object(|json| {
        json.key("samples").number(summary.samples);
        json.key("samples_joined").number(found.joined);
        json.key("samples_with_gap").number(found.with_gap);
        json.key("samples_with_tail_calls").number(found.with_tail_calls);
        json.key("samples_with_unknown_tail_calls").number(found.with_unknown_tail_calls);
        json.key("samples_filtered").number(summary.samples_filtered);
        json.key("samples_dropped").number(summary.samples_dropped);
        json.key("frames").number(summary.frames);
        json.key("lost_samples").number(summary.lost_samples);
        json.key("lost_records").number(summary.lost_records);
        json.key("throttled").number(summary.throttled);
        json.key("lost_by_event").array(&summary.lost_by_event, |json, loss| {
            json.object(|json| {
                json.key("event").number(loss.event.as_u32());
                json.key("samples").number(loss.samples);
                json.key("records").number(loss.records);
            });
        });
        json.key("end").array(profile.end_counts(), JsonWriter::number);
        json.key("found_by").array(found.frames, JsonWriter::number);
        stack_needs::add(json, profile);
        json.key("losses").array(&summary.losses, loss);
        json.key("findings").array(&summary.findings, |json, finding| {
            json.object(|json| {
                json.key("kind").string(&finding.kind);
                json.key("count").number(finding.count);
                json.key("message").string(finding.text().as_ref());
                remedy(json, finding.help.as_ref());
            });
        });
        // Present only if off-CPU times were requested.
        if profile.off_cpu.is_some() {
            json.key("unswitched").array(&summary.threads_without_switch, |json, row| {
                json.object(|json| {
                    json.key("thread").number(row.thread.as_u32());
                    json.key("state").string(row.state.as_str());
                    json.key("since_ns").number(row.since.0);
                    json.key("duration_ns").number(row.duration);
                });
            });
        }
    });
}

fn loss(json: &mut JsonWriter, loss: &ModuleLoss) {
    json.object(|json| {
        if let Some(module) = loss.module {
            json.key("module").number(module.0);
        }
        json.key("samples").number(loss.samples);
        json.key("reason").string(&loss.reason);
        json.key("help").string(loss.help.as_ref().map_or("", |help| &help.text));
        remedy(json, loss.help.as_ref());
    });
}

/// Appends the machine-readable code of an advice, if there is one.
fn remedy(json: &mut JsonWriter, help: Option<&Advice>) {
    if let Some(help) = help {
        json.key("remedy").string(&*help.code);
    }
}
