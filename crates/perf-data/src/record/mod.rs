//! Decoded records: one enum over all types, and the header and trailer that records share.
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
mod timed;
mod trailer;
mod user;

pub use branch_stack::{Branch, BranchFlags, BranchStack};
pub use build_ids::BuildIdEntry;
pub(crate) use build_ids::read_build_ids;
pub use callchain::{Callchain, CallchainContext};
pub(crate) use header_rules::HeaderRules;
pub use kernel::{
    Aux, BpfEvent, CallchainDeferred, Cgroup, Comm, Ksymbol, Lost, MapName, Mmap, MmapId, NamedMap,
    Namespace, Namespaces, Switch, Task, TextPoke, Throttle,
};
pub use read_values::{ReadValue, ReadValues};
pub use registers::{RecordedRegisters, RegsAbi};
pub use sample::{Sample, SampleDamage, SampleError, UserStack, Weight};
pub(crate) use sample_decode::decode_sample;
pub(crate) use schema::Schema;
pub use simpleperf::{SimpleperfChain, SimpleperfRecord};
pub(crate) use timed::RecordBytes;
pub use timed::TimedRecord;
pub use trailer::SampleId;
pub use user::{
    Auxtrace, EventUpdate, IdIndexEntry, ThreadMap, ThreadMapEntry, TimeConv, UserRecord,
};

use address::{Pid, Tid};

use crate::record_header::RecordKind;

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
