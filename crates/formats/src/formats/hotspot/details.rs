//! Data that only the stream of hotspot's backend contains. It is collected only for that format.

use address::{BuildId, Pid, Tid, Timestamp};

use profile::{EventId, StringId};

/// Recorded data apart from samples and stacks. Empty if no format requested it.
#[derive(Debug, Clone, Default)]
pub struct Details {
    /// Build-ids from the recording's list: process (-1 for all), id, path.
    pub build_ids: Vec<(Pid, BuildId, StringId)>,
    /// Sets of CPUs that share a package, such as `0-3`.
    pub core_sets: Vec<StringId>,
    /// Sets of CPUs that share a core.
    pub thread_sets: Vec<StringId>,
    /// Memory nodes.
    pub memory_nodes: Vec<MemoryNodeRow>,
    /// Kinds of events: `type` in the attributes, and name.
    pub units: Vec<(u32, StringId)>,
    /// Groups of events that were counted together.
    pub groups: Vec<GroupRow>,
    /// Tracepoints with a known format.
    pub tracepoints: Vec<TracepointRow>,
    /// Thread events, sorted by time.
    pub tasks: Vec<TaskEvent>,
    /// Additional data of single samples, in the order of the samples.
    pub extras: Vec<SampleExtra>,
    /// Messages for the user, without duplicates.
    pub errors: Vec<ErrorRow>,
}

/// A NUMA memory node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryNodeRow {
    /// Its id.
    pub node: u32,
    /// Its memory, in KiB.
    pub total_kib: u64,
    /// Its free memory, in KiB.
    pub free_kib: u64,
    /// Its CPUs, as a list.
    pub cpus: StringId,
}

/// A group of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupRow {
    /// Its name, often empty.
    pub name: StringId,
    /// Index of its first event.
    pub leader: u32,
    /// Number of events.
    pub members: u32,
}

/// A tracepoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TracepointRow {
    /// `config` of its event.
    pub id: u64,
    /// Its subsystem.
    pub system: StringId,
    /// Its name in the subsystem.
    pub name: StringId,
}

/// A change in the state of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskEvent {
    /// Time; 0 for the state before the recording.
    pub time: Timestamp,
    /// Process of the thread.
    pub pid: Pid,
    /// The thread.
    pub tid: Tid,
    /// The CPU; `None` if it was not recorded.
    pub cpu: Option<u32>,
    /// The kind of change.
    pub what: TaskChange,
}

/// Kind of a thread's change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskChange {
    /// The thread started. The parent process is given; for a thread, it is its own process.
    Started(Pid),
    /// The thread ended.
    Ended,
    /// The thread got a name.
    Named(StringId),
    /// Number of records that were lost while the thread ran.
    Lost(u64),
    /// A context switch: false if the thread was scheduled in, true if it was scheduled out.
    Switched(bool),
}

/// Data of a sample apart from its period. It belongs to the next sample with the same time, thread and event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleExtra {
    /// Time of the sample.
    pub time: Timestamp,
    /// Process of the sample.
    pub pid: Pid,
    /// Thread of the sample.
    pub tid: Tid,
    /// Event of the sample.
    pub event: EventId,
    /// Counts since the previous sample, by event. If empty, the sample's own period applies.
    pub costs: Vec<(EventId, u64)>,
    /// Fields of a tracepoint; `None` for other samples.
    pub fields: Option<Vec<(StringId, FieldValue)>>,
}

/// Value of a tracepoint's field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    /// A signed number of at most four bytes.
    I32(i32),
    /// An unsigned number of at most four bytes.
    U32(u32),
    /// A signed number of eight bytes.
    I64(i64),
    /// An unsigned number of eight bytes.
    U64(u64),
    /// Characters.
    Bytes(Box<[u8]>),
    /// Several values.
    List(Vec<Self>),
}

/// A message for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorRow {
    /// Kind of the message.
    pub kind: ErrorKind,
    /// Text of the message.
    pub message: String,
}

/// Kinds of messages for a user, by their numbers in the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Records arrived too late to be sorted.
    TimeOrder = 1,
    /// The file of a module is missing or was rejected.
    MissingFile = 2,
    /// The list of kernel symbols is unusable.
    KernelSymbols = 3,
}
