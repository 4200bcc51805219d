//! The parser of Linux `perf.data` recordings: bytes in, borrowed and typed records out, in time order.
//!
//! It knows nothing of ELF files, file search or what records mean to a process. There are three ways in:
//! - [`Session`] reads a recording of any kind - file, pipe stream, compressed records, packed as a whole, directory -
//!   and gives it out as [`Window`]s in time order, made on a thread of their own while earlier ones are walked.
//! - [`visit_records`] calls a function with every record, decoded, in the order of the file.
//! - [`Recording`] borrows a plain file: [`Recording::parse`] reads the container, [`Recording::scan`] the headers.
//!
//! Damage is told in [`Findings`] and never ends the reading.
//!
//! ```text
//!   Input ──open──> Session { head } ──next_window──> Window { samples: [SampleEntry], records, head }
//!                                                        └───sample(&SampleEntry)──> Sample { ip, registers, ... }
//! ```
//!
//! # Known differences to `perf`
//! - Records of a file are ordered by (time, position) over all of it; rounds are used only where bytes come as a stream
//!   or expanded, to know what is complete.
//! - Attributes larger than the newest known one are read by their known prefix; `perf` refuses the file.
//! - Cut and unfinished recordings are read up to their last whole record; `perf` refuses them or dies.
//! - Unknown record types are skipped by their size; a damaged record is skipped up to the next chain of headers.
//! - A packed recording in file form is unpacked as a whole before it is read, since its build ids stand at its end.
//! - A sample with a wrong count inside keeps everything in front of that count; `perf` stops reading there.
//!
//! ```
//! use perf_data::{Error, Findings, Recording};
//! let mut findings = Findings::default();
//! let error = Recording::parse(b"not a recording at all", &mut findings).expect_err("no magic");
//! assert!(matches!(error, Error::NotPerfData { .. }));
//! ```

mod container;
mod cursor;
mod error;
mod event;
mod finding;
mod record;
mod session;
mod shared_bytes;
mod stream;
mod tracing;

#[cfg(test)]
mod tests;

pub use container::{
    Arch, AuxtraceIndex, BpfProgram, Btf, CacheLevel, ClockData, CompressedInfo, CpuCount,
    CpuDomain, CpuLocation, CpuTopology, EventDesc, Features, GroupDesc, Head, HybridNode, Machine,
    MachineCode, MachineSource, MemoryNode, MemoryTopology, NumaNode, PmuCaps, PmuMapping,
    SimpleperfFile, SimpleperfSymbol,
};
pub use cursor::{Cursor, Endian, Words};
pub use error::Error;
pub use event::{AttrFlags, Event, EventAttr, ReadFormat, SampleType};
pub use finding::{Finding, FindingGroup, Findings, HeaderFault, Severity};
pub use record::{
    Aux, Auxtrace, BpfEvent, Branch, BranchFlags, BranchStack, BuildIdEntry, Callchain,
    CallchainDeferred, Cgroup, Comm, Context, CpuMode, EventUpdate, IdIndexEntry, Ksymbol, Lost,
    Mmap, MmapId, Namespace, Namespaces, ReadValue, ReadValues, Record, RecordHeader, RecordKind,
    Registers, RegsAbi, Sample, SampleDamage, SampleError, SampleId, SimpleperfChain,
    SimpleperfRecord, Switch, Task, TextPoke, ThreadMapEntry, Throttle, TimeConv, UserRecord,
    UserStack, Weight,
};
pub use session::{
    Input, RawBody, RawRecord, RawRecords, RecordEntry, Recording, SampleEntry, Scan, Session,
    SessionOptions, TimedRecord, Visited, Window, visit_records,
};
pub use shared_bytes::SharedBytes;
pub use stream::{EventLosses, KindCount, Losses, RecordCounts};
pub use tracing::{TraceField, TraceFormat, TraceKind, TraceValue, TracingData};
