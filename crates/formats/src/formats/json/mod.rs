//! The default format: the tables of a profile in columns, in one JSON document. `docs/OUTPUT.md` has the fields,
//! `docs/stacks.schema.json` is their JSON Schema.

mod needs;
mod tables;
mod writer;

use std::io;

use crate::printer::Printer;
use crate::render::inline_rows::InlineRows;
use profile::query::{FoundCounts, found_counts};
use profile::{
    Advice, EndReason, FoundBy, ModuleKind, Profile, RecordingInfo, RowId as _, StringId, Strings,
};
use writer::{JsonDocument, number, string};

/// Counts up with changes that break readers: a field removed, or with another meaning.
const VERSION: u32 = 1;

/// Counts up with changes that do not: a field or a word added.
const REVISION: u32 = 9;

/// Prints the tables as one JSON document.
#[derive(Debug, Clone, Copy)]
pub struct Json {
    /// Whether the table of inlines has the inlined functions; without, only the functions around them.
    pub inlines: bool,
}

impl Printer for Json {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        let (rows, found) =
            rayon::join(|| InlineRows::new(profile, self.inlines), || found_counts(profile));
        let mut json = JsonDocument::default();
        json.raw("{\"meta\":{\"schema\":\"unwind-perf-stacks\",\"version\":");
        json.value(|out| number(out, VERSION));
        json.raw(",\"revision\":");
        json.value(|out| number(out, REVISION));
        json.raw(",\"generator\":\"unwind-perf ");
        json.raw(env!("CARGO_PKG_VERSION"));
        json.raw("\"}");
        json.raw(",\n\"recording\":");
        recording(&mut json, &profile.recording, &profile.strings);
        words(&mut json);
        json.raw(",\n\"strings\":");
        json.elements(profile.strings.len(), |out, index| {
            string(out, profile.strings.get(StringId::from_index(index)));
        });
        tables::add(&mut json, profile, &rows);
        json.raw(",\n\"summary\":");
        summary(&mut json, profile, &found);
        json.raw("}\n");
        json.write(out)
    }
}

/// The recording's header as a document of its own, for formats that have it beside their tables.
#[cfg(feature = "arrow")]
pub(crate) fn recording_json(profile: &Profile) -> String {
    let mut json = JsonDocument::default();
    recording(&mut json, &profile.recording, &profile.strings);
    json.into_text()
}

/// The account of the run as a document of its own.
#[cfg(feature = "arrow")]
pub(crate) fn summary_json(profile: &Profile) -> String {
    let mut json = JsonDocument::default();
    summary(&mut json, profile, &found_counts(profile));
    json.into_text()
}

/// The recording's header; unknown facts are left out.
fn recording(json: &mut JsonDocument<'_>, recording: &RecordingInfo, strings: &Strings) {
    json.raw("{\"command_line\":");
    json.array(&recording.command_line, |out, &id| string(out, strings.get(id)));
    let facts = [
        ("hostname", recording.hostname),
        ("os_release", recording.os_release),
        ("arch", recording.arch),
        ("perf_version", recording.perf_version),
        ("cpu_desc", recording.cpu_desc),
        ("cpu_id", recording.cpu_id),
    ];
    for (name, value) in
        facts.into_iter().filter_map(|(name, value)| value.map(|value| (name, value)))
    {
        json.raw(",\"");
        json.raw(name);
        json.raw("\":");
        json.value(|out| string(out, strings.get(value)));
    }
    let counts = [
        ("cpus_online", recording.cpus_online.map(u64::from)),
        ("cpus_available", recording.cpus_available.map(u64::from)),
        ("total_memory_kib", recording.total_memory_kib),
    ];
    for (name, value) in
        counts.into_iter().filter_map(|(name, value)| value.map(|value| (name, value)))
    {
        json.raw(",\"");
        json.raw(name);
        json.raw("\":");
        json.value(|out| number(out, value));
    }
    json.raw("}");
}

/// The closed lists that columns point into.
fn words(json: &mut JsonDocument<'_>) {
    json.raw(",\n\"words\":{\"end\":");
    json.array(EndReason::ALL, |out, word| string(out, word.as_str().as_bytes()));
    json.raw(",\"found_by\":");
    json.array(FoundBy::ALL, |out, word| string(out, word.as_str().as_bytes()));
    json.raw(",\"module_kind\":");
    json.array(ModuleKind::ALL, |out, word| string(out, word.as_str().as_bytes()));
    json.raw("}");
}

/// The account of the run.
fn summary(json: &mut JsonDocument<'_>, profile: &Profile, found: &FoundCounts) {
    let summary = &profile.summary;
    let counters = [
        ("samples", summary.samples),
        ("samples_joined", found.joined),
        ("samples_with_gap", found.with_gap),
        ("samples_with_tail_calls", found.with_tail_calls),
        ("samples_with_unknown_tail_calls", found.with_unknown_tail_calls),
        ("samples_filtered", summary.samples_filtered),
        ("samples_dropped", summary.samples_dropped),
        ("frames", summary.frames),
        ("lost_samples", summary.lost_samples),
        ("lost_records", summary.lost_records),
        ("throttled", summary.throttled),
    ];
    json.raw("{");
    for (name, value) in counters {
        json.raw("\"");
        json.raw(name);
        json.raw("\":");
        json.value(|out| number(out, value));
        json.raw(",");
    }
    lost_by_event(json, profile);
    json.raw(",\"end\":");
    json.array(profile.end_counts(), number);
    json.raw(",\"found_by\":");
    json.array(found.frames, number);
    needs::add(json, profile);
    json.raw(",\"losses\":");
    json.array(&summary.losses, |out, loss| {
        out.push(b'{');
        if let Some(module) = loss.module {
            out.extend_from_slice(b"\"module\":");
            number(out, module.0);
            out.push(b',');
        }
        out.extend_from_slice(b"\"samples\":");
        number(out, loss.samples);
        out.extend_from_slice(b",\"reason\":");
        string(out, loss.reason.as_bytes());
        out.extend_from_slice(b",\"help\":");
        string(out, loss.help.as_ref().map_or(&b""[..], |it| it.text.as_bytes()));
        remedy(out, loss.help.as_ref());
        out.push(b'}');
    });
    json.raw(",\"findings\":");
    json.array(&summary.findings, |out, finding| {
        out.extend_from_slice(b"{\"kind\":");
        string(out, finding.kind.as_bytes());
        out.extend_from_slice(b",\"count\":");
        number(out, finding.count);
        out.extend_from_slice(b",\"message\":");
        string(out, finding.text().as_bytes());
        remedy(out, finding.help.as_ref());
        out.push(b'}');
    });
    unswitched(json, profile);
    json.raw("}");
}

/// The word for programs of advice, if there is any.
fn remedy(out: &mut Vec<u8>, help: Option<&Advice>) {
    if let Some(help) = help {
        out.extend_from_slice(b",\"remedy\":");
        string(out, help.code.as_bytes());
    }
}

/// The threads without a context switch, if times off the processor were asked for.
fn unswitched(json: &mut JsonDocument<'_>, profile: &Profile) {
    if profile.off_cpu.is_none() {
        return;
    }
    json.raw(",\"unswitched\":");
    json.array(&profile.summary.unswitched, |out, row| {
        out.extend_from_slice(b"{\"thread\":");
        number(out, row.thread.as_u32());
        out.extend_from_slice(b",\"state\":");
        string(out, row.state.as_str().as_bytes());
        out.extend_from_slice(b",\"since_ns\":");
        number(out, row.since.0);
        out.extend_from_slice(b",\"duration_ns\":");
        number(out, row.duration);
        out.push(b'}');
    });
}

/// What the kernel lost, by event.
fn lost_by_event(json: &mut JsonDocument<'_>, profile: &Profile) {
    json.raw("\"lost_by_event\":");
    json.array(&profile.summary.lost_by_event, |out, loss| {
        let fields = [
            ("event", loss.event.as_u32().into()),
            ("samples", loss.samples),
            ("records", loss.records),
        ];
        for (index, (name, value)) in fields.into_iter().enumerate() {
            out.extend_from_slice(if index == 0 { b"{\"" } else { b",\"" });
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"\":");
            number(out, value);
        }
        out.push(b'}');
    });
}
