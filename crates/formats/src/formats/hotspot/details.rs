//! What the stream of hotspot's backend has and other formats do not. It is collected only for that format.

use address::{BuildId, Pid, Tid, Timestamp};

use profile::{EventId, StringId};

/// What was recorded beside samples and stacks. Empty where no format asked for it.
#[derive(Debug, Clone, Default)]
pub struct Details {
    /// The build-ids of the recording's list: process (-1 for all), id, path.
    pub build_ids: Vec<(Pid, BuildId, StringId)>,
    /// Sets of processors that share a package, such as `0-3`.
    pub core_sets: Vec<StringId>,
    /// Sets of processors that share a core.
    pub thread_sets: Vec<StringId>,
    /// Memory nodes.
    pub memory_nodes: Vec<MemoryNodeRow>,
    /// Kinds of events: the number in attributes, and the name.
    pub units: Vec<(u32, StringId)>,
    /// Events that were counted together.
    pub groups: Vec<GroupRow>,
    /// Tracepoints whose format is known.
    pub tracepoints: Vec<TracepointRow>,
    /// What happened to threads, by time.
    pub tasks: Vec<TaskEvent>,
    /// What single samples have beside a period, in the order of the samples.
    pub extras: Vec<SampleExtra>,
    /// Messages for the user, each once.
    pub errors: Vec<ErrorRow>,
}

/// A memory node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryNodeRow {
    /// Its id.
    pub node: u32,
    /// Its memory in KiB.
    pub total_kib: u64,
    /// Its free memory in KiB.
    pub free_kib: u64,
    /// Its processors, as a list.
    pub cpus: StringId,
}

/// A group of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupRow {
    /// Its name, often empty.
    pub name: StringId,
    /// The index of its first event.
    pub leader: u32,
    /// How many there are.
    pub members: u32,
}

/// A tracepoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TracepointRow {
    /// The `config` of its event.
    pub id: u64,
    /// Its subsystem.
    pub system: StringId,
    /// Its name there.
    pub name: StringId,
}

/// Something that happened to a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskEvent {
    /// When; 0 for what was so before the recording.
    pub time: Timestamp,
    /// Its process.
    pub pid: Pid,
    /// The thread.
    pub tid: Tid,
    /// On which processor; `None` where it was not recorded.
    pub cpu: Option<u32>,
    /// What it was.
    pub what: TaskChange,
}

/// What happened to a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskChange {
    /// It began, as a child of this process (a thread: of its own).
    Started(Pid),
    /// It ended.
    Ended,
    /// It got a name.
    Named(StringId),
    /// So many records were lost while it ran.
    Lost(u64),
    /// It came onto the processor, or (true) left it.
    Switched(bool),
}

/// What a sample has beside its period. It belongs to the next sample of that time, thread and event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleExtra {
    /// The sample's time.
    pub time: Timestamp,
    /// Its process.
    pub pid: Pid,
    /// Its thread.
    pub tid: Tid,
    /// Its event.
    pub event: EventId,
    /// What was counted since the last sample, by event; empty for the period of its own event.
    pub costs: Vec<(EventId, u64)>,
    /// The fields of a tracepoint; `None` for other samples.
    pub fields: Option<Vec<(StringId, FieldValue)>>,
}

/// The value of a tracepoint's field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    /// A number with a sign, of at most four bytes.
    I32(i32),
    /// A number without one, of at most four bytes.
    U32(u32),
    /// A number with a sign, of eight bytes.
    I64(i64),
    /// A number without one, of eight bytes.
    U64(u64),
    /// Characters.
    Bytes(Box<[u8]>),
    /// Several values.
    List(Vec<Self>),
}

/// A message for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorRow {
    /// What kind of thing.
    pub kind: ErrorKind,
    /// In words.
    pub message: String,
}

/// The kinds of messages for a user, by their numbers in the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Records came too late to be put in order.
    TimeOrder = 1,
    /// The file of a module is missing or was refused.
    MissingFile = 2,
    /// The list of kernel symbols cannot be used.
    KernelSymbols = 3,
}
