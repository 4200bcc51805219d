//! The decoded record, one enum over all types, and the contents of the kernel's types apart from samples.
//!
//! Source: `include/uapi/linux/perf_event.h`, the comments of `enum perf_event_type`.

use address::{Avma, BuildId, FileOffset, Pid, Tid, Timestamp};

use super::callchain::Callchain;
use super::read_values::ReadValues;
use super::simpleperf::SimpleperfRecord;
use super::user::UserRecord;
use crate::bytes::Words;
use crate::record_header::{CpuMode, RecordKind};

/// Bit of `prot` for executable memory.
pub(super) const PROT_EXEC: u32 = 4;

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

/// Recorded identity of a mapped file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MmapId {
    /// Not recorded, or not a file.
    None,
    /// Location in its file system.
    Inode {
        /// Major number of the device.
        major: u32,
        /// Minor number of the device.
        minor: u32,
        /// Inode.
        inode: u64,
        /// Generation of the inode.
        generation: u64,
    },
    /// Identity of its content.
    BuildId(BuildId),
}

/// MMAP and MMAP2: `[start, start + len)` of a process maps a file from `pgoff` on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mmap<'d> {
    /// Process; -1 for the kernel and its modules.
    pub pid: Pid,
    /// Thread that made the mapping.
    pub tid: Tid,
    /// Kernel for the kernel and its modules; user for all others.
    pub cpu_mode: CpuMode,
    /// True if the recorder timed out while reading `/proc/PID/maps` of this process.
    pub parse_timeout: bool,
    /// True if the mapping is executable. Kernel maps and simpleperf's JIT code are, regardless of `prot`.
    pub executable: bool,
    /// First address.
    pub start: Avma,
    /// Length in bytes. In hostile input the end may wrap around.
    pub len: u64,
    /// Offset of `start` in the file.
    pub pgoff: FileOffset,
    /// Identity of the file.
    pub id: MmapId,
    /// `PROT_*` bits; for MMAP derived from `executable`.
    pub prot: u32,
    /// `MAP_*` bits; 0 for MMAP.
    pub flags: u32,
    /// Path, or a name such as `[vdso]`, `//anon`, `[kernel.kallsyms]_text`.
    pub path: &'d [u8],
}

impl Mmap<'_> {
    /// Bit of `prot` for JIT code in simpleperf recordings, with symbols at addresses of the process. Such a map has
    /// no other bit, and Linux does not use this one.
    ///
    /// Source: simpleperf's `thread_tree.h`, `map_flags::PROT_JIT_SYMFILE_MAP`.
    pub(crate) const PROT_JIT_SYMFILE: u32 = 0x4000;

    /// Returns true if simpleperf recorded the symbols of this code at addresses of the process.
    #[must_use]
    pub const fn is_jit_symfile(&self) -> bool {
        self.prot & Self::PROT_JIT_SYMFILE != 0
    }
}

/// An MMAP2 record of a process, with identity and path undecoded: most maps of a recording are of the same few files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NamedMap<'d> {
    /// Process.
    pub pid: Pid,
    /// First address.
    pub start: Avma,
    /// Length in bytes. In hostile input the end may wrap around.
    pub len: u64,
    /// Offset of `start` in the file.
    pub pgoff: FileOffset,
    /// `PROT_*` bits.
    pub prot: u32,
    /// Identity and path, undecoded. Equal values decode to equal identities and paths.
    pub name: MapName<'d>,
}

impl NamedMap<'_> {
    /// Returns true if the mapping is executable.
    #[must_use]
    pub const fn is_executable(&self) -> bool {
        self.prot & PROT_EXEC != 0
    }
}

/// Undecoded identity and path of an MMAP2 record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MapName<'d> {
    /// True if the identity is a build-id.
    pub has_build_id: bool,
    /// Inode or build-id.
    pub id: &'d [u8; 24],
    /// Path with its padding.
    pub path: &'d [u8],
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
