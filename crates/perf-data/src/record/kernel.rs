//! The decoded record, one enum over all types, and the contents of the kernel's types apart from samples.
//!
//! Source: `include/uapi/linux/perf_event.h`, the comments of `enum perf_event_type`.

use address::{Avma, Pid, Tid, Timestamp};

use super::callchain::Callchain;
use super::map::{Mmap, mmap, mmap2};
use super::read_values::ReadValues;
use super::simpleperf::SimpleperfRecord;
use super::user::UserRecord;
use crate::bytes::{FieldReader, Words, until_nul};
use crate::event::{ReadFormat, recorded_time};
use crate::record_header::{RecordHeader, RecordKind};
use crate::record_types::KernelType;

/// COMM: by exec; FORK: synthesized by the recorder; SWITCH: out.
const MISC_13: u16 = 1 << 13;
/// SWITCH: preempted.
const MISC_14: u16 = 1 << 14;
/// Length of the body of COMM before the name, in bytes.
pub(crate) const COMM_FIXED: usize = 8;
/// Length of the body of FORK and EXIT, in bytes.
pub(crate) const TASK_FIXED: usize = 24;

/// A decoded record other than a sample. Bytes are borrowed from the recording.
#[derive(Clone, Copy, Debug)]
pub enum Record<'d> {
    /// MMAP or MMAP2: a range of a process's address space was mapped.
    Mmap(Mmap<'d>),
    /// A thread was named, by exec or otherwise.
    Comm(Comm<'d>),
    /// A process or thread started.
    Fork(Task),
    /// A thread ended.
    Exit(Task),
    /// Records were lost in the kernel's buffer.
    Lost(Lost),
    /// Samples were lost in hardware or by a filter.
    LostSamples(Lost),
    /// Sampling was paused.
    Throttle(Throttle),
    /// Sampling resumed.
    Unthrottle(Throttle),
    /// Counter values of a task.
    Read {
        /// Process.
        pid: Pid,
        /// Thread.
        tid: Tid,
        /// Values.
        values: ReadValues<'d>,
    },
    /// A task was switched in or out.
    Switch(Switch),
    /// The namespaces of a task.
    Namespaces(Namespaces<'d>),
    /// Kernel code was loaded or unloaded.
    Ksymbol(Ksymbol<'d>),
    /// A BPF program was loaded or unloaded.
    BpfEvent(BpfEvent),
    /// A control group appeared.
    Cgroup(Cgroup<'d>),
    /// Kernel code was changed.
    TextPoke(TextPoke<'d>),
    /// AUX area data was written.
    Aux(Aux),
    /// Instruction tracing of a thread started.
    ItraceStart {
        /// Process.
        pid: Pid,
        /// Thread.
        tid: Tid,
    },
    /// Hardware id of an AUX output.
    AuxOutputHwId(u64),
    /// A deferred user callchain of earlier samples.
    CallchainDeferred(CallchainDeferred<'d>),
    /// A record of the recording tool.
    User(UserRecord<'d>),
    /// A record of Android's simpleperf.
    Simpleperf(SimpleperfRecord<'d>),
    /// A record of unknown type.
    Unknown {
        /// Type.
        kind: RecordKind,
        /// Size of the record in bytes, including the header.
        size: u32,
    },
}

/// COMM: name of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Comm<'d> {
    /// Process.
    pub pid: Pid,
    /// Thread.
    pub tid: Tid,
    /// True if the name was set by exec, which replaces the address space.
    pub exec: bool,
    /// Name, at most 15 bytes.
    pub comm: &'d [u8],
}

/// FORK and EXIT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Task {
    /// Process.
    pub pid: Pid,
    /// Parent process. FORK of a thread: the same as `pid`.
    pub ppid: Pid,
    /// Thread.
    pub tid: Tid,
    /// Thread that forked.
    pub ptid: Tid,
    /// Time in the body, equal to the trailer's.
    pub time: Timestamp,
    /// FORK only: true if the recorder synthesized the record for a task that was already running when recording
    /// began. Its maps are in separate records, so it does not inherit its parent's.
    ///
    /// Source: `include/uapi/linux/perf_event.h`, `PERF_RECORD_MISC_FORK_EXEC`; `tools/perf/util/synthetic-events.c`,
    /// `perf_event__synthesize_fork`; `tools/perf/util/machine.c`, `machine__process_fork_event`.
    pub synthesized: bool,
}

/// LOST and `LOST_SAMPLES`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lost {
    /// Id of the event with the full buffer; for `LOST_SAMPLES` the trailer's.
    pub id: u64,
    /// Number of records or samples.
    pub lost: u64,
}

/// THROTTLE and UNTHROTTLE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Throttle {
    /// Time.
    pub time: Timestamp,
    /// Id of the event.
    pub id: u64,
    /// Id of the event on that CPU or thread.
    pub stream_id: u64,
}

/// SWITCH and `SWITCH_CPU_WIDE`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Switch {
    /// True if the trailer's task left the processor, false if it was switched in.
    pub out: bool,
    /// True if it was preempted, that is, still runnable.
    pub preempted: bool,
    /// CPU-wide recordings: the next task, or the previous one.
    pub other: Option<(Pid, Tid)>,
}

/// One namespace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Namespace {
    /// Device.
    pub device: u64,
    /// Inode.
    pub inode: u64,
}

/// NAMESPACES: net, uts, ipc, pid, user, mnt and cgroup, in this order.
#[derive(Clone, Copy, Debug)]
pub struct Namespaces<'d> {
    /// Process.
    pub pid: Pid,
    /// Thread.
    pub tid: Tid,
    pub(crate) words: Words<'d>,
}

impl Namespaces<'_> {
    /// Number of namespaces.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len() / 2
    }

    /// Returns true if there are no namespaces.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the namespace at `index`; 3 is that of process ids, 5 that of mounts.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Namespace> {
        let at = index.checked_mul(2)?;
        Some(Namespace { device: self.words.get(at)?, inode: self.words.get(at + 1)? })
    }
}

/// KSYMBOL: kernel code without a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ksymbol<'d> {
    /// First address.
    pub addr: Avma,
    /// Length in bytes.
    pub len: u32,
    /// 1 for BPF, 2 for out-of-line code.
    pub kind: u16,
    /// True if the code was unloaded, false if it was loaded.
    pub unregister: bool,
    /// Name.
    pub name: &'d [u8],
}

/// `BPF_EVENT`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BpfEvent {
    /// 1 for load, 2 for unload.
    pub kind: u16,
    /// Flags.
    pub flags: u16,
    /// Id of the program.
    pub id: u32,
    /// Tag of the program.
    pub tag: [u8; 8],
}

/// CGROUP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cgroup<'d> {
    /// Id.
    pub id: u64,
    /// Path below the root of the hierarchy.
    pub path: &'d [u8],
}

/// `TEXT_POKE`: bytes of kernel code were changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextPoke<'d> {
    /// First address.
    pub addr: Avma,
    /// Bytes before.
    pub old: &'d [u8],
    /// Bytes after.
    pub new: &'d [u8],
}

/// AUX.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Aux {
    /// Offset in the AUX area.
    pub offset: u64,
    /// Length in bytes.
    pub size: u64,
    /// Flags: 1 truncated, 2 overwrite, 4 partial, 8 collision.
    pub flags: u64,
}

/// `CALLCHAIN_DEFERRED`: user part of the callchains that end with a cookie.
#[derive(Clone, Copy, Debug)]
pub struct CallchainDeferred<'d> {
    /// The cookie.
    pub cookie: u64,
    /// User frames, without marker.
    pub chain: Callchain<'d>,
}

/// Decodes the body of a kernel record; `None` if it is too short. Unknown types become [`Record::Unknown`].
pub(crate) fn kernel_record<'d>(
    header: RecordHeader,
    cursor: &mut FieldReader<'d>,
    read_format: ReadFormat,
) -> Option<Record<'d>> {
    let RecordHeader { kind, misc, size } = header;
    let Some(known) = KernelType::of(kind) else { return Some(Record::Unknown { kind, size }) };
    Some(match known {
        // A sample has the layout of its event.
        KernelType::Sample => Record::Unknown { kind, size },
        KernelType::Mmap => Record::Mmap(mmap(misc, cursor)?),
        KernelType::Mmap2 => Record::Mmap(mmap2(misc, cursor)?),
        KernelType::Comm => Record::Comm(comm(misc, cursor)?),
        KernelType::Fork => Record::Fork(task(misc, cursor)?),
        KernelType::Exit => Record::Exit(task(0, cursor)?),
        KernelType::Lost => Record::Lost(Lost { id: cursor.u64()?, lost: cursor.u64()? }),
        KernelType::LostSamples => Record::LostSamples(Lost { id: 0, lost: cursor.u64()? }),
        KernelType::Throttle => Record::Throttle(throttle(cursor)?),
        KernelType::Unthrottle => Record::Unthrottle(throttle(cursor)?),
        KernelType::Read => {
            let (pid, tid) = task_ids(cursor)?;
            Record::Read { pid, tid, values: ReadValues::read(cursor, read_format)? }
        }
        KernelType::Switch => Record::Switch(switch(misc, None)),
        KernelType::SwitchCpuWide => Record::Switch(switch(misc, Some(task_ids(cursor)?))),
        KernelType::Namespaces => Record::Namespaces(namespaces(cursor)?),
        KernelType::Ksymbol => Record::Ksymbol(ksymbol(cursor)?),
        KernelType::BpfEvent => Record::BpfEvent(bpf_event(cursor)?),
        KernelType::Cgroup => {
            Record::Cgroup(Cgroup { id: cursor.u64()?, path: until_nul(cursor.rest()) })
        }
        KernelType::TextPoke => Record::TextPoke(text_poke(cursor)?),
        KernelType::Aux => {
            Record::Aux(Aux { offset: cursor.u64()?, size: cursor.u64()?, flags: cursor.u64()? })
        }
        KernelType::ItraceStart => {
            let (pid, tid) = task_ids(cursor)?;
            Record::ItraceStart { pid, tid }
        }
        KernelType::AuxOutputHwId => Record::AuxOutputHwId(cursor.u64()?),
        KernelType::CallchainDeferred => Record::CallchainDeferred(callchain_deferred(cursor)?),
    })
}

fn comm<'d>(misc: u16, cursor: &mut FieldReader<'d>) -> Option<Comm<'d>> {
    let (pid, tid) = task_ids(cursor)?;
    Some(Comm { pid, tid, exec: misc & MISC_13 != 0, comm: until_nul(cursor.rest()) })
}

const fn switch(misc: u16, other: Option<(Pid, Tid)>) -> Switch {
    Switch { out: misc & MISC_13 != 0, preempted: misc & MISC_14 != 0, other }
}

fn namespaces<'d>(cursor: &mut FieldReader<'d>) -> Option<Namespaces<'d>> {
    let (pid, tid) = task_ids(cursor)?;
    let count = cursor.u64()?;
    Some(Namespaces { pid, tid, words: cursor.words(count.checked_mul(2)?)? })
}

fn ksymbol<'d>(cursor: &mut FieldReader<'d>) -> Option<Ksymbol<'d>> {
    let addr = Avma(cursor.u64()?);
    let len = cursor.u32()?;
    let [kind, flags] = [cursor.u16()?, cursor.u16()?];
    let name = until_nul(cursor.rest());
    Some(Ksymbol { addr, len, kind, unregister: flags & 1 != 0, name })
}

fn bpf_event(cursor: &mut FieldReader<'_>) -> Option<BpfEvent> {
    let [kind, flags] = [cursor.u16()?, cursor.u16()?];
    let id = cursor.u32()?;
    Some(BpfEvent { kind, flags, id, tag: *cursor.bytes(8)?.first_chunk()? })
}

fn text_poke<'d>(cursor: &mut FieldReader<'d>) -> Option<TextPoke<'d>> {
    let addr = Avma(cursor.u64()?);
    let [old, new] = [cursor.u16()?, cursor.u16()?];
    Some(TextPoke { addr, old: cursor.bytes(old.into())?, new: cursor.bytes(new.into())? })
}

fn callchain_deferred<'d>(cursor: &mut FieldReader<'d>) -> Option<CallchainDeferred<'d>> {
    let cookie = cursor.u64()?;
    let count = cursor.u64()?;
    Some(CallchainDeferred { cookie, chain: Callchain::new(cursor.words(count)?) })
}

fn task_ids(cursor: &mut FieldReader<'_>) -> Option<(Pid, Tid)> {
    Some((Pid(cursor.i32()?), Tid(cursor.i32()?)))
}

/// Decodes FORK and EXIT, which have the order pid, ppid, tid, ptid.
fn task(misc: u16, cursor: &mut FieldReader<'_>) -> Option<Task> {
    let [pid, ppid, tid, ptid] = [cursor.i32()?, cursor.i32()?, cursor.i32()?, cursor.i32()?];
    let time = recorded_time(Some(cursor.u64()?));
    Some(Task {
        pid: Pid(pid),
        ppid: Pid(ppid),
        tid: Tid(tid),
        ptid: Tid(ptid),
        time,
        synthesized: misc & MISC_13 != 0,
    })
}

fn throttle(cursor: &mut FieldReader<'_>) -> Option<Throttle> {
    Some(Throttle {
        time: recorded_time(Some(cursor.u64()?)),
        id: cursor.u64()?,
        stream_id: cursor.u64()?,
    })
}
