//! The Firefox Profiler's processed profile: tables of strings, functions, frames and stacks shared by all threads, and
//! the samples and markers of each thread. It is fully symbolized, so readers need no symbol server.
//!
//! This is hand-written because the crate for this format supports neither lines nor inlined functions.
//!
//! Source: the Firefox Profiler's `src/types/profile.ts`, processed profile version 60.

mod libraries;
mod markers;
mod sink;
mod tables;
mod threads;

use std::io;

use crate::facts::{FormatFacts, ShownWeights};
use crate::options::StackWeight;
use crate::printer::Printer;
use crate::render::escaped::Escaped;
use crate::render::text::{push_json, push_number};
use profile::query::period_units;
use profile::{LONGEST_IN_TABLE, Profile, StringId};
use sink::TextSink;
use tables::SharedTables;
use threads::{first_time, threads};

/// Version of the processed profile.
const PROCESSED: u32 = 60;
/// Version of the corresponding unprocessed format.
const UNPROCESSED: u32 = 31;

/// Prints a processed profile, compressed with gzip by default.
#[derive(Debug, Clone, Copy)]
pub struct Firefox {
    /// Whether inlined functions are separate frames.
    pub inlines: bool,
    /// Whether stacks without their root are shown unchanged, instead of under one `[truncated]` frame.
    pub keep_unrooted: bool,
    /// Weight of a sample.
    pub weight: StackWeight,
    /// Whether the document is not compressed.
    pub plain: bool,
}

impl Firefox {
    /// Name, file name endings and weights of the format.
    pub(crate) const FACTS: FormatFacts = FormatFacts {
        weights: ShownWeights::PerSample,
        ..FormatFacts::binary(
            "firefox",
            "the Firefox Profiler's profile, compressed with gzip",
            &[".json.gz"],
            "application/gzip",
        )
    };
}

impl Printer for Firefox {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        let mut sink = TextSink::new(out, self.plain);
        let tables = SharedTables::new(profile, self.inlines, self.keep_unrooted);
        let mut names = StringArray::new(profile);
        let marker_names = (names.make(b"Name of the thread"), names.make(b"Lost samples"));
        sink.raw(b"{\"meta\":");
        meta(profile, &mut sink);
        sink.raw(b",\n\"libs\":");
        libraries::write(profile, &names, &mut sink)?;
        sink.raw(b",\n\"shared\":{");
        tables.shared(&mut names, &mut sink)?;
        sink.raw(b"},\n\"threads\":[");
        let origin = first_time(profile);
        let threads = threads(profile);
        for (index, thread) in threads.iter().enumerate() {
            sink.raw(if index == 0 { b"\n" } else { b",\n" });
            let shared =
                ThreadContext { profile, names: &names, origin, printer: self, marker_names };
            thread.write(&shared, index + 1 == threads.len(), &tables, &mut sink)?;
        }
        sink.raw(b"],\n\"pages\":[]}\n");
        sink.finish()
    }
}

/// Data shared by the writers of all threads.
struct ThreadContext<'a> {
    profile: &'a Profile,
    names: &'a StringArray<'a>,
    /// Time of the first sample; all times are relative to it.
    origin: u64,
    printer: &'a Firefox,
    /// String indexes of the marker names for thread renames and for lost samples.
    marker_names: (u32, u32),
}

/// The table of strings: the profile's strings by id, followed by additional ones.
struct StringArray<'a> {
    strings: Escaped<'a>,
    n_strings: u32,
    made: Vec<Vec<u8>>,
}

impl<'a> StringArray<'a> {
    fn new(profile: &'a Profile) -> Self {
        Self {
            strings: Escaped::new(&profile.strings, LONGEST_IN_TABLE, push_json),
            n_strings: profile.strings.len() as u32,
            made: Vec::new(),
        }
    }

    /// Adds a string and returns its index.
    fn make(&mut self, text: &[u8]) -> u32 {
        self.made.push(text.to_vec());
        self.n_strings + self.made.len() as u32 - 1
    }

    /// Returns a string of the profile, escaped.
    fn escaped(&self, id: StringId) -> &[u8] {
        self.strings.get(id)
    }

    fn write(&self, sink: &mut TextSink<'_>) -> io::Result<()> {
        sink.raw(b"\"stringArray\":[");
        for (index, text) in self.strings.iter().enumerate() {
            sink.raw(if index == 0 { b"\"" } else { b",\"" });
            sink.raw(text);
            sink.raw(b"\"");
            sink.flush_if_full()?;
        }
        for (index, text) in self.made.iter().enumerate() {
            sink.raw(if index == 0 && self.n_strings == 0 { b"\"" } else { b",\"" });
            push_json(sink.text(), text);
            sink.raw(b"\"");
        }
        sink.raw(b"]");
        Ok(())
    }
}

/// Indexes of categories; the format requires index 0.
mod category {
    pub(super) const USER: u8 = 1;
    pub(super) const KERNEL: u8 = 2;
    pub(super) const ANONYMOUS: u8 = 3;
    pub(super) const TRUNCATED: u8 = 4;
}

const CATEGORIES: &[u8] = br#"[{"name":"Other","color":"grey","subcategories":["Other"]},
{"name":"User","color":"yellow","subcategories":["Other","guessed"]},
{"name":"Kernel","color":"orange","subcategories":["Other","guessed"]},
{"name":"Anonymous memory","color":"purple","subcategories":["Other","guessed"]},
{"name":"Truncated","color":"red","subcategories":["Other"]}]"#;

fn meta(profile: &Profile, sink: &mut TextSink<'_>) {
    sink.raw(b"{\"version\":");
    sink.number(UNPROCESSED);
    sink.raw(b",\"preprocessedProfileVersion\":");
    sink.number(PROCESSED);
    sink.raw(b",\"processType\":0,\"stackwalk\":1,\"debug\":false,\"symbolicated\":true,\"startTime\":0,\"interval\":");
    sink.milliseconds(interval(profile));
    sink.raw(b",\"importedFrom\":\"unwind-perf ");
    sink.raw(env!("CARGO_PKG_VERSION").as_bytes());
    sink.raw(b"\",\"platform\":\"Linux\",\"sourceCodeIsNotOnSearchfox\":true,\"extensions\":{\"baseURL\":[],\"id\":[],\"name\":[],\"length\":0},\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"}");
    let recording = &profile.recording;
    let get = |id: Option<StringId>| id.map_or(&[][..], |id| profile.strings.get(id));
    let words: Vec<&[u8]> =
        recording.command_line.iter().map(|&word| profile.strings.get(word)).collect();
    let system = [get(recording.os_release), get(recording.arch)].join(&b' ');
    // The profiled program is not recorded; the name of the first process is the best approximation.
    let product =
        profile.threads.iter().next().map_or(&b"perf"[..], |row| profile.strings.get(row.process));
    for (key, value) in [
        ("product", product),
        ("oscpu", system.trim_ascii()),
        ("CPUName", get(recording.cpu_desc)),
        ("arguments", &words.join(&b' ')),
    ] {
        sink.raw(b",\"");
        sink.raw(key.as_bytes());
        sink.raw(b"\":\"");
        push_json(sink.text(), value);
        sink.raw(b"\"");
    }
    if let Some(cpus) = recording.cpus_available {
        sink.raw(b",\"logicalCPUs\":");
        sink.number(cpus);
    }
    if let Some(memory) = recording.total_memory_kib {
        sink.raw(b",\"mainMemory\":");
        push_number(sink.text(), u128::from(memory) * 1024);
    }
    sink.raw(b",\n\"categories\":");
    sink.raw(CATEGORIES);
    sink.raw(b",\n\"markerSchema\":");
    markers::write_types(profile, sink);
    sink.raw(b"}");
}

/// Returns the sampling interval in nanoseconds by the attributes of the first event, or a default.
fn interval(profile: &Profile) -> u64 {
    const DEFAULT: u64 = 1_000_000;
    let Some(event) = profile.events.iter().next().filter(|event| event.rate > 0) else {
        return DEFAULT;
    };
    let units = period_units(profile);
    match (event.frequency, units.iter().next().copied().flatten()) {
        (true, _) => 1_000_000_000 / event.rate,
        (false, Some("nanoseconds")) => event.rate,
        _ => DEFAULT,
    }
}
