//! Changes of the recorded processes by the records of a recording.

use perf_data::{Record, RecordKind, Task};

/// Change of the recorded processes by a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A range of addresses was mapped.
    Map { pid: i32, start: u64, len: u64 },
    /// A thread was named; exec also ends all maps of its process.
    Name { pid: i32, tid: i32, is_exec: bool },
    /// A thread or a process started.
    Fork(Task),
    /// A thread ended.
    Exit { pid: i32, tid: i32 },
    /// A fact of the machine, which replaces an earlier one with the same key.
    Fact { kind: u32, key: u64 },
    /// The end of such a fact.
    NoFact { kind: u32, key: u64 },
}

impl Change {
    /// Returns the change that a record states.
    pub(super) fn of(kind: u32, record: &Record<'_>) -> Option<Self> {
        Some(match record {
            Record::Mmap(it) => Self::Map { pid: it.pid.0, start: it.start.0, len: it.len },
            Record::Comm(it) => Self::Name { pid: it.pid.0, tid: it.tid.0, is_exec: it.exec },
            Record::Fork(it) => Self::Fork(*it),
            Record::Exit(it) => Self::Exit { pid: it.pid.0, tid: it.tid.0 },
            Record::Namespaces(it) => Self::Fact { kind, key: u64::from(it.tid.0.cast_unsigned()) },
            Record::Cgroup(it) => Self::Fact { kind, key: it.id },
            Record::BpfEvent(it) if it.kind == BPF_UNLOAD => {
                Self::NoFact { kind, key: it.id.into() }
            }
            Record::BpfEvent(it) => Self::Fact { kind, key: it.id.into() },
            Record::TextPoke(it) => Self::Fact { kind, key: it.addr.0 },
            Record::Ksymbol(it) if it.unregister => Self::NoFact { kind, key: it.addr.0 },
            Record::Ksymbol(it) => Self::Fact { kind, key: it.addr.0 },
            // The recorder's lists of threads, processors and event ids, and its clock.
            Record::User(_) if !is_of_moment(kind) => Self::Fact { kind, key: 0 },
            _ => return None,
        })
    }
}

/// Source: `enum perf_bpf_event_type` in `include/uapi/linux/perf_event.h`.
const BPF_UNLOAD: u16 = 2;

/// Returns true for records of the recorder that concern a moment.
const fn is_of_moment(kind: u32) -> bool {
    matches!(
        RecordKind(kind),
        RecordKind::FINISHED_ROUND
            | RecordKind::FINISHED_INIT
            | RecordKind::STAT
            | RecordKind::STAT_ROUND
    )
}
