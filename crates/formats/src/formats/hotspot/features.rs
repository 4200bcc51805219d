//! Start of the stream: features of the recording, attributes of its events, and tracepoints.

use super::details::Details;
use super::message::{MessageKind, Stream};
use super::tables::Definitions;
use profile::{Profile, StringId};

/// Writes the features of the recording.
pub(super) fn features<W>(stream: &mut Stream<W>, profile: &Profile, details: &Details) {
    let recording = &profile.recording;
    let text = |id: Option<StringId>| id.map_or(&[][..], |id| profile.strings.get(id));
    stream.begin(MessageKind::Features);
    for id in [recording.hostname, recording.os_release, recording.perf_version, recording.arch] {
        stream.bytes(text(id));
    }
    let online = recording.cpus_online.unwrap_or(0);
    stream.u32(online);
    stream.u32(recording.cpus_available.unwrap_or(online));
    stream.bytes(text(recording.cpu_desc));
    stream.bytes(text(recording.cpu_id));
    stream.u64(recording.total_memory_kib.unwrap_or(0));
    strings(stream, profile, &recording.command_line);
    stream.u32(details.build_ids.len() as u32);
    for &(pid, id, path) in &details.build_ids {
        stream.i32(pid.0);
        stream.bytes(id.as_bytes());
        stream.bytes(profile.strings.get(path));
    }
    strings(stream, profile, &details.core_sets);
    strings(stream, profile, &details.thread_sets);
    stream.u32(details.memory_nodes.len() as u32);
    for node in &details.memory_nodes {
        stream.u32(node.node);
        stream.u64(node.total_kib);
        stream.u64(node.free_kib);
        stream.bytes(profile.strings.get(node.cpus));
    }
    stream.u32(details.units.len() as u32);
    for &(kind, name) in &details.units {
        stream.u32(kind);
        stream.bytes(profile.strings.get(name));
    }
    stream.u32(details.groups.len() as u32);
    for group in &details.groups {
        stream.bytes(profile.strings.get(group.name));
        stream.u32(group.leader);
        stream.u32(group.members);
    }
    stream.end();
}

fn strings<W>(stream: &mut Stream<W>, profile: &Profile, list: &[StringId]) {
    stream.u32(list.len() as u32);
    list.iter().for_each(|&word| stream.bytes(profile.strings.get(word)));
}

/// Writes the attributes of the events from index `first` on.
pub(super) fn attributes<W>(tables: &mut Definitions<W>, profile: &Profile, first: usize) {
    for (id, event) in (0_i32..).zip(&profile.events).skip(first) {
        let name = tables.string(profile, event.name);
        let stream = &mut tables.stream;
        stream.begin(MessageKind::Attributes);
        stream.i32(id);
        stream.u32(event.kind);
        stream.u64(event.config);
        stream.i32(name);
        stream.bool(event.frequency);
        stream.u64(event.rate);
        stream.end();
    }
}

/// Writes the tracepoints from index `first` on. The flags are 0; only readers of the raw data need them.
pub(super) fn tracepoints<W>(
    tables: &mut Definitions<W>,
    profile: &Profile,
    details: &Details,
    first: usize,
) {
    for row in details.tracepoints.iter().skip(first) {
        let (system, name) = (tables.string(profile, row.system), tables.string(profile, row.name));
        let stream = &mut tables.stream;
        stream.begin(MessageKind::TracepointFormat);
        stream.i32(row.id as i32);
        stream.i32(system);
        stream.i32(name);
        stream.u32(0);
        stream.end();
    }
}
