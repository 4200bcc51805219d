//! Records other than samples, in little-endian form.
//!
//! Source: `include/uapi/linux/perf_event.h`, the comments of `enum perf_event_type`.

use address::BuildId;
use perf_data::{
    Head, Mmap, MmapId, Record, RecordHeader, RecordKind, SampleId, SampleType, Task, UserRecord,
};

use super::fields::Fields;
use super::is_of_recorder;
use crate::anonymous::Pseudonyms;

/// Encodes a record; `None` if its kind is omitted, `Some(None)` if it is too long.
pub(super) fn encoded(
    head: &Head,
    record: &Record<'_>,
    trailer: &SampleId,
    header: RecordHeader,
    names: Option<&Pseudonyms>,
) -> Option<Option<Vec<u8>>> {
    let mut out = Fields::like(header);
    body(&mut out, record, header.kind, names)?;
    if !is_of_recorder(header.kind) {
        self::trailer(&mut out, head, trailer);
    }
    Some(out.finish())
}

fn body(
    out: &mut Fields,
    record: &Record<'_>,
    kind: RecordKind,
    names: Option<&Pseudonyms>,
) -> Option<()> {
    match record {
        Record::Mmap(map) => mmap(out, map, kind, names),
        Record::Comm(comm) => {
            out.i32(comm.pid.0).i32(comm.tid.0);
            let name = names.map(|names| names.task(comm.comm));
            out.text(name.as_deref().unwrap_or(comm.comm), 8);
        }
        Record::Fork(Task { pid, ppid, tid, ptid, time, .. })
        | Record::Exit(Task { pid, ppid, tid, ptid, time, .. }) => {
            out.i32(pid.0).i32(ppid.0).i32(tid.0).i32(ptid.0).u64(time.0);
        }
        Record::Lost(lost) => {
            out.u64(lost.id).u64(lost.lost);
        }
        Record::LostSamples(lost) => {
            out.u64(lost.lost);
        }
        Record::Throttle(it) | Record::Unthrottle(it) => {
            out.u64(it.time.0).u64(it.id).u64(it.stream_id);
        }
        Record::Switch(switch) => {
            if let Some((pid, tid)) = switch.other {
                out.i32(pid.0).i32(tid.0);
            }
        }
        Record::Namespaces(it) => {
            out.i32(it.pid.0).i32(it.tid.0).u64(it.len() as u64);
            let all = (0..it.len()).filter_map(|index| it.get(index));
            out.u64s(all.flat_map(|it| [it.device, it.inode]));
        }
        Record::Ksymbol(it) => {
            out.u64(it.addr.0).u32(it.len).u16(it.kind).u16(it.unregister.into());
            let name = names.map(|names| names.function(it.name));
            out.text(name.as_deref().unwrap_or(it.name), 8);
        }
        Record::BpfEvent(it) => {
            out.u16(it.kind).u16(it.flags).u32(it.id).bytes(&it.tag);
        }
        Record::Cgroup(it) => {
            let path = names.map(|names| names.source_path(it.path));
            out.u64(it.id).text(path.as_deref().unwrap_or(it.path), 8);
        }
        Record::CallchainDeferred(it) => {
            let words: Vec<u64> = it.chain.entries().collect();
            out.u64(it.cookie).u64(words.len() as u64).u64s(words);
        }
        Record::User(UserRecord::FinishedRound) => {}
        Record::Read { .. }
        | Record::TextPoke(_)
        | Record::Aux(_)
        | Record::ItraceStart { .. }
        | Record::AuxOutputHwId(_)
        | Record::User(_)
        | Record::Simpleperf(_)
        | Record::Unknown { .. } => return None,
    }
    Some(())
}

fn mmap(out: &mut Fields, map: &Mmap<'_>, kind: RecordKind, names: Option<&Pseudonyms>) {
    out.i32(map.pid.0).i32(map.tid.0).u64(map.start.0).u64(map.len).u64(map.pgoff.0);
    if kind == RecordKind::MMAP2 {
        match map.id {
            MmapId::Inode { major, minor, inode, generation } => {
                out.u32(major).u32(minor).u64(inode).u64(generation);
            }
            MmapId::BuildId(id) => {
                out.bytes(&build_id(id));
            }
            MmapId::None => {
                out.bytes(&[0; 24]);
            }
        }
        out.u32(map.prot).u32(map.flags);
    }
    let path = names.map(|names| names.mapped(map.path));
    out.text(path.as_deref().unwrap_or(map.path), 8);
}

/// Returns a build-id in the format of `MMAP2`: size, three reserved bytes, twenty bytes.
fn build_id(id: BuildId) -> [u8; 24] {
    let mut field = [0; 24];
    field[0] = id.as_bytes().len() as u8;
    for (to, from) in field.iter_mut().skip(4).zip(id.as_bytes()) {
        *to = *from;
    }
    field
}

/// Appends the trailer of a kernel record. Source: `struct sample_id`.
fn trailer(out: &mut Fields, head: &Head, trailer: &SampleId) {
    let Some(attr) = head.events().first().map(|event| &event.attr) else { return };
    if !attr.flags.sample_id_all() {
        return;
    }
    let id = trailer.id.unwrap_or_default();
    let number = |it: Option<i32>| u64::from(it.unwrap_or_default().cast_unsigned());
    let pid = number(trailer.pid.map(|pid| pid.0));
    let tid = number(trailer.tid.map(|tid| tid.0));
    for (field, word) in [
        (SampleType::TID, tid << 32 | pid),
        (SampleType::TIME, trailer.time.0),
        (SampleType::ID, id),
        (SampleType::STREAM_ID, trailer.stream_id.unwrap_or_default()),
        (SampleType::CPU, trailer.cpu.unwrap_or_default().into()),
        (SampleType::IDENTIFIER, id),
    ] {
        if attr.sample_type.has(field) {
            out.u64(word);
        }
    }
}
