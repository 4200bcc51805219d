//! OTLP profiles: `ProfilesData` of OpenTelemetry, accepted by Pyroscope, Parca and the collector. The fields are those
//! of `ExportProfilesServiceRequest`, so a file is also a valid request.
//!
//! A process is a resource; each of its events is a profile. Receivers support different subsets of the protocol, so
//! the output uses its simplest forms. Attribute values are plain strings and numbers, and the first link is empty.
//!
//! Source: <https://github.com/open-telemetry/opentelemetry-proto/tree/v1.11.0/opentelemetry/proto/profiles/v1development>.

mod dictionary;
mod locations;
mod resource;
mod samples;

use std::io;

use address::Pid;
use hashbrown::HashMap;
use profile::query::Programs;
use profile::{EventId, ProcessKey, Profile, SampleId, StringId, ThreadRow};

use crate::facts::{BYTES, FormatFacts};
use crate::printer::Printer;
use crate::render::encoding::protobuf::ProtoMessage;
use dictionary::Dictionary;
use locations::LocationEncoder;
use samples::ProfileSamples;

/// Name of the scope of all profiles.
const SCOPE: &str = "unwind-perf";

/// Prints OTLP profiles.
#[derive(Debug, Clone, Copy)]
pub struct Otlp {
    /// Whether inlined functions are separate lines.
    pub inlines: bool,
}

impl Otlp {
    /// Name, file name endings and weights of the format.
    pub(crate) const FACTS: FormatFacts = FormatFacts::binary(
        "otlp",
        "OpenTelemetry's protocol buffer of profiles (its layout may still change)",
        &[".otlp"],
        BYTES,
    );
}

impl Printer for Otlp {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        let mut dictionary = Dictionary::default();
        let mut locations = LocationEncoder::new(profile, self.inlines);
        let samples = ProfileSamples::new(profile);
        let programs = Programs::new(profile);
        let mut top = ProtoMessage::default();
        for (process, events) in processes(profile) {
            let resource = resource::resource(profile, process, &programs);
            let mut scope = ProtoMessage::default();
            let mut name = ProtoMessage::default();
            name.string(1, SCOPE.as_bytes());
            name.string(2, env!("CARGO_PKG_VERSION").as_bytes());
            scope.message(1, &name);
            for (event, ids) in &events {
                let message = samples.profile(*event, ids, &mut locations, &mut dictionary);
                scope.message(2, &message.identified(&resource));
            }
            let mut of_process = ProtoMessage::default();
            of_process.message(1, &resource);
            of_process.message(2, &scope);
            top.clear();
            top.message(1, &of_process);
            out.write_all(top.bytes())?;
        }
        top.clear();
        top.message(2, &dictionary.encoded());
        out.write_all(top.bytes())
    }
}

/// The samples of a process, by event.
type EventSamples = Vec<(EventId, Vec<SampleId>)>;

/// Returns the processes in the order of their first samples, with their samples. A process has one name.
fn processes(profile: &Profile) -> Vec<(ProcessKey, EventSamples)> {
    let mut index: HashMap<ProcessKey, usize> = HashMap::new();
    let mut processes: Vec<(ProcessKey, EventSamples)> = Vec::new();
    // Key for samples without a thread, which only an inconsistent profile has.
    let nobody = ProcessKey { pid: Pid(-1), name: StringId::new(u32::MAX) };
    for (id, sample) in profile.samples.entries() {
        let thread = profile.threads.get(sample.thread);
        let process = thread.map_or(nobody, ThreadRow::process_key);
        let at = *index.entry(process).or_insert_with(|| {
            processes.push((process, Vec::new()));
            processes.len() - 1
        });
        let Some((_, events)) = processes.get_mut(at) else { continue };
        match events.iter_mut().find(|(event, _)| *event == sample.event) {
            Some((_, ids)) => ids.push(id),
            None => events.push((sample.event, vec![id])),
        }
    }
    processes
}
