//! Effect of each record on the timeline.

use address::{FileOffset, Pid, Tid, Timestamp};
use module_map::{
    CachedMap, CachedNames, CgroupId, FileIdentity, FilesOfPaths, Inode, MapEvent, RecordedName,
    Timeline,
};
use perf_data::{
    Batch, CpuMode, Head, Ksymbol, MapName, Mmap, MmapId, NamedMap, Record, TimedRecord,
};

/// Reports the build-ids that the header lists by path to the timeline, for maps without a build-id in their records.
/// Call it before the records are applied.
pub fn learn_build_ids(timeline: &mut Timeline, head: &Head) {
    for entry in &head.features().build_ids {
        if let Some(id) = entry.build_id {
            timeline.list_build_id(entry.name, id);
        }
    }
}

/// Reports to the timeline the files that the paths in a batch led to, with times.
/// Call it before the batch's records are applied.
pub fn learn_files(timeline: &mut Timeline, batch: &Batch) {
    let mut files = FilesOfPaths::default();
    for entry in batch.record_entries() {
        if let Some(map) = batch.map(entry.position)
            && map.executable
            && !map.cpu_mode.is_guest()
            && map.path.starts_with(b"/")
            && let Some(inode) = inode_of(&map)
        {
            files.add(map.path, inode, entry.time);
        }
    }
    timeline.list_files(files);
}

/// Returns the inode that a map record states; anonymous memory has none.
const fn inode_of(map: &Mmap<'_>) -> Option<Inode> {
    match map.id {
        MmapId::Inode { major, minor, inode, generation } if inode != 0 => {
            Some(Inode { major, minor, number: inode, generation })
        }
        _ => None,
    }
}

/// Moves a timeline over one record. Records must be applied in time order.
pub fn apply(timeline: &mut Timeline, record: &TimedRecord<'_>) {
    timeline.advance(record.time);
    match &record.record {
        Record::Mmap(map) => apply_map(timeline, map),
        Record::Comm(comm) if is_synthesized(record) && !comm.exec => {
            timeline.listed_comm(comm.pid, comm.tid, comm.comm);
        }
        Record::Comm(comm) => timeline.comm(comm.pid, comm.tid, comm.comm, comm.exec),
        Record::Fork(task) if task.synthesized => {
            timeline.already_running(task.pid, task.tid, task.ppid, task.ptid);
        }
        Record::Fork(task) => timeline.fork(task.pid, task.tid, task.ppid, task.ptid),
        Record::Exit(task) => timeline.exit(task.pid, task.tid),
        Record::Cgroup(cgroup) => timeline.cgroup(CgroupId(cgroup.id), cgroup.path),
        Record::Ksymbol(symbol) => apply_ksymbol(timeline, symbol),
        Record::Lost(_)
        | Record::LostSamples(_)
        | Record::Throttle(_)
        | Record::Unthrottle(_)
        | Record::Read { .. }
        | Record::Switch(_)
        | Record::Namespaces(_)
        | Record::BpfEvent(_)
        | Record::TextPoke(_)
        | Record::Aux(_)
        | Record::ItraceStart { .. }
        | Record::AuxOutputHwId(_)
        | Record::CallchainDeferred(_)
        | Record::User(_)
        | Record::Simpleperf(_)
        | Record::Unknown { .. } => {}
    }
}

/// Returns true if the recorder synthesized a record: the trailer of a kernel record has a task or a time.
/// Without trailers the two cannot be distinguished.
fn is_synthesized(record: &TimedRecord<'_>) -> bool {
    record.trailer.tid == Some(Tid(0)) && record.trailer.time == Timestamp(0)
}

const PROT_WRITE: u32 = 2;

/// Returns the map that a record states if its name is already known, so that no more of the record is read.
#[inline]
pub(crate) fn known_map(map: &NamedMap<'_>, names: CachedNames<'_>) -> Option<CachedMap> {
    names.find(&unnamed_event(map), &recorded_name(map))
}

/// Applies a map if its name is already known, and returns whether it did.
pub(crate) fn apply_known_map(timeline: &mut Timeline, map: &NamedMap<'_>) -> bool {
    timeline.map_again(&unnamed_event(map), &recorded_name(map))
}

/// The event of a map record, without path and identity.
#[inline]
fn unnamed_event(map: &NamedMap<'_>) -> MapEvent<'static> {
    MapEvent {
        pid: map.pid,
        kernel: false,
        start: map.start,
        len: map.len,
        offset: map.pgoff,
        executable: map.is_executable(),
        writable: map.prot & PROT_WRITE != 0,
        path: &[],
        identity: FileIdentity::default(),
    }
}

/// Applies a map with a new name.
pub(crate) fn apply_new_map(timeline: &mut Timeline, map: &NamedMap<'_>, decoded: &Mmap<'_>) {
    let event = map_event(decoded);
    timeline.map(&event);
    timeline.cache_name(&event, &recorded_name(map));
}

const fn recorded_name<'d>(map: &NamedMap<'d>) -> RecordedName<'d> {
    let MapName { has_build_id, id, path } = map.name;
    RecordedName { kind: has_build_id, identity: id, path }
}

pub(crate) fn apply_map(timeline: &mut Timeline, map: &Mmap<'_>) {
    let event = map_event(map);
    match map.cpu_mode.is_guest() {
        true => timeline.map_guest(&event),
        false => timeline.map(&event),
    }
}

fn map_event<'d>(map: &Mmap<'d>) -> MapEvent<'d> {
    let build_id = if let MmapId::BuildId(id) = map.id { Some(id) } else { None };
    let identity = FileIdentity { build_id, inode: inode_of(map), ..FileIdentity::default() };
    MapEvent {
        pid: map.pid,
        kernel: matches!(map.cpu_mode, CpuMode::Kernel | CpuMode::GuestKernel),
        start: map.start,
        len: map.len,
        // If symbols are at process addresses, file offsets are equal to these addresses.
        offset: if map.is_jit_symfile() { FileOffset(map.start.0) } else { map.pgoff },
        executable: map.executable,
        writable: map.prot & PROT_WRITE != 0,
        path: map.path,
        identity,
    }
}

fn apply_ksymbol(timeline: &mut Timeline, symbol: &Ksymbol<'_>) {
    if symbol.unregister {
        timeline.unmap_kernel(symbol.addr, u64::from(symbol.len));
        return;
    }
    timeline.map(&MapEvent {
        pid: Pid(-1),
        kernel: true,
        start: symbol.addr,
        len: u64::from(symbol.len),
        offset: address::FileOffset(0),
        executable: true,
        writable: false,
        path: symbol.name,
        identity: FileIdentity::default(),
    });
}
