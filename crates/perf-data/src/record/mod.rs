//! The decoded record: one enum over all types, with the header and trailer that records have in common.
//!
//! Source: `include/uapi/linux/perf_event.h`, `enum perf_event_type`; `tools/lib/perf/include/perf/event.h`,
//! `enum perf_user_event_type`.

mod branch_stack;
mod build_ids;
mod callchain;
mod header_rules;
mod kernel;
mod kernel_decode;
mod read_values;
mod registers;
mod sample;
mod sample_decode;
mod schema;
mod simpleperf;
mod user;

pub use branch_stack::{Branch, BranchFlags, BranchStack};
pub use build_ids::BuildIdEntry;
pub(crate) use build_ids::read_build_ids;
pub use callchain::{Callchain, Context};
pub(crate) use header_rules::HeaderRules;
pub use kernel::{
    Aux, BpfEvent, CallchainDeferred, Cgroup, Comm, Ksymbol, Lost, Mmap, MmapId, Namespace,
    Namespaces, Switch, Task, TextPoke, Throttle,
};
pub use read_values::{ReadValue, ReadValues};
pub use registers::{Registers, RegsAbi};
pub use sample::{Sample, SampleDamage, SampleError, UserStack, Weight};
pub(crate) use sample_decode::decode_sample;
pub(crate) use schema::Schema;
pub use simpleperf::{SimpleperfChain, SimpleperfRecord};
pub use user::{Auxtrace, EventUpdate, IdIndexEntry, ThreadMapEntry, TimeConv, UserRecord};

use std::fmt;

use address::{Pid, Tid, Timestamp};

/// The type number of a record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKind(pub u32);

macro_rules! kinds {
    ($($name:ident = $number:literal;)*) => {
        impl RecordKind {
            $(#[doc = concat!("`PERF_RECORD_", stringify!($name), "`.")]
            pub const $name: Self = Self($number);)*

            /// The name of the type without its prefix; `None` for unknown numbers.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some(stringify!($name)),)*
                    _ => None,
                }
            }
        }
    };
}

kinds! {
    MMAP = 1; LOST = 2; COMM = 3; EXIT = 4; THROTTLE = 5; UNTHROTTLE = 6; FORK = 7; READ = 8; SAMPLE = 9; MMAP2 = 10;
    AUX = 11; ITRACE_START = 12; LOST_SAMPLES = 13; SWITCH = 14; SWITCH_CPU_WIDE = 15; NAMESPACES = 16; KSYMBOL = 17;
    BPF_EVENT = 18; CGROUP = 19; TEXT_POKE = 20; AUX_OUTPUT_HW_ID = 21; CALLCHAIN_DEFERRED = 22;
    HEADER_ATTR = 64; HEADER_EVENT_TYPE = 65; HEADER_TRACING_DATA = 66; HEADER_BUILD_ID = 67; FINISHED_ROUND = 68;
    ID_INDEX = 69; AUXTRACE_INFO = 70; AUXTRACE = 71; AUXTRACE_ERROR = 72; THREAD_MAP = 73; CPU_MAP = 74;
    STAT_CONFIG = 75; STAT = 76; STAT_ROUND = 77; EVENT_UPDATE = 78; TIME_CONV = 79; HEADER_FEATURE = 80;
    COMPRESSED = 81; FINISHED_INIT = 82; COMPRESSED2 = 83; BPF_METADATA = 84; SCHEDSTAT_CPU = 85;
    SCHEDSTAT_DOMAIN = 86;
    SIMPLEPERF_KERNEL_SYMBOL = 32769; SIMPLEPERF_DSO = 32770; SIMPLEPERF_SYMBOL = 32771; SIMPLEPERF_SPLIT = 32772;
    SIMPLEPERF_SPLIT_END = 32773; SIMPLEPERF_EVENT_ID = 32774; SIMPLEPERF_CALLCHAIN = 32775;
    SIMPLEPERF_UNWINDING_RESULT = 32776; SIMPLEPERF_TRACING_DATA = 32777; SIMPLEPERF_DEBUG = 32778;
}

impl RecordKind {
    /// Types from here on are made by the recording tool, not the kernel, and have no trailer.
    pub const FIRST_USER: u32 = 64;
    /// Types from here on are simpleperf's, with another header.
    pub(crate) const FIRST_SIMPLEPERF: u32 = 32768;
    const LAST_SIMPLEPERF: u32 = 32778;

    /// Whether the number is that of a known type.
    pub(crate) const fn is_known(self, simpleperf: bool) -> bool {
        matches!(self.0, 1..=22 | 64..=86)
            || simpleperf && self.0 >= Self::FIRST_SIMPLEPERF && self.0 <= Self::LAST_SIMPLEPERF
    }

    /// Whether the size may be any number: these are not padded to eight bytes by all recorders.
    pub(crate) const fn is_unpadded(self) -> bool {
        matches!(
            self,
            Self::HEADER_TRACING_DATA
                | Self::HEADER_FEATURE
                | Self::COMPRESSED
                | Self::HEADER_EVENT_TYPE
                | Self::HEADER_BUILD_ID
                | Self::CPU_MAP
                | Self::EVENT_UPDATE
        ) || self.0 >= Self::FIRST_SIMPLEPERF
    }
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "type {}", self.0),
        }
    }
}

impl fmt::Debug for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The mode the processor was in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CpuMode {
    /// Not said.
    Unknown,
    /// The host's kernel.
    Kernel,
    /// A process of the host.
    User,
    /// The hypervisor.
    Hypervisor,
    /// A guest's kernel.
    GuestKernel,
    /// A process of a guest.
    GuestUser,
}

impl CpuMode {
    /// By the lowest three bits of a record's `misc`.
    #[must_use]
    pub const fn from_misc(misc: u16) -> Self {
        match misc & 7 {
            1 => Self::Kernel,
            2 => Self::User,
            3 => Self::Hypervisor,
            4 => Self::GuestKernel,
            5 => Self::GuestUser,
            _ => Self::Unknown,
        }
    }
}

/// `struct perf_event_header`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordHeader {
    /// Type number.
    pub kind: RecordKind,
    /// Flags, meaning by type; the lowest three bits are the mode of the processor.
    pub misc: u16,
    /// Bytes of the record, header included. Wider than the field: simpleperf's records can be longer.
    pub size: u32,
}

/// The trailer of a kernel record that is no sample (`sample_id`). Records that the recorder made up have all zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SampleId {
    /// Process.
    pub pid: Option<Pid>,
    /// Thread.
    pub tid: Option<Tid>,
    /// Time; 0 where there is none.
    pub time: Timestamp,
    /// Id of the event.
    pub id: Option<u64>,
    /// Id of the event on that CPU or thread.
    pub stream_id: Option<u64>,
    /// Processor.
    pub cpu: Option<u32>,
}

/// One decoded record that is no sample. Bytes are borrowed from the recording.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Record<'d> {
    /// MMAP or MMAP2: a range of a process's address space was mapped.
    Mmap(Mmap<'d>),
    /// A thread got a name, by exec or otherwise.
    Comm(Comm<'d>),
    /// A process or thread began.
    Fork(Task),
    /// A thread ended.
    Exit(Task),
    /// Records were lost in the kernel's buffer.
    Lost(Lost),
    /// Samples were lost in hardware or by a filter.
    LostSamples(Lost),
    /// Sampling was paused.
    Throttle(Throttle),
    /// Sampling went on.
    Unthrottle(Throttle),
    /// Counts of a task.
    Read {
        /// Process.
        pid: Pid,
        /// Thread.
        tid: Tid,
        /// The counts.
        values: ReadValues<'d>,
    },
    /// A task was switched in or out.
    Switch(Switch),
    /// The namespaces of a task.
    Namespaces(Namespaces<'d>),
    /// Kernel code was loaded or dropped.
    Ksymbol(Ksymbol<'d>),
    /// A BPF program was loaded or dropped.
    BpfEvent(BpfEvent),
    /// A control group appeared.
    Cgroup(Cgroup<'d>),
    /// Kernel code was changed.
    TextPoke(TextPoke<'d>),
    /// AUX area data was written.
    Aux(Aux),
    /// Instruction tracing of a thread began.
    ItraceStart {
        /// Process.
        pid: Pid,
        /// Thread.
        tid: Tid,
    },
    /// The hardware's id of an AUX output.
    AuxOutputHwId(u64),
    /// A user callchain that belongs to earlier samples.
    CallchainDeferred(CallchainDeferred<'d>),
    /// A record of the recording tool.
    User(UserRecord<'d>),
    /// A record of Android's simpleperf.
    Simpleperf(SimpleperfRecord<'d>),
    /// An unknown type.
    Unknown {
        /// Its number.
        kind: RecordKind,
        /// Bytes of the record, header included.
        size: u32,
    },
}
