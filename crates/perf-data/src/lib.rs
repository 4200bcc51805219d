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

mod attr;
mod branch_stack;
mod build_ids;
mod callchain;
mod chains;
mod container;
mod counts;
mod cursor;
mod driver;
mod error;
mod event;
mod event_name;
mod expander;
mod feature_decode;
mod feature_types;
mod features;
mod feed;
mod file_head;
mod finding;
mod finding_text;
mod findings;
mod gather;
mod head;
mod header_rules;
mod identity;
mod input;
mod kernel_decode;
mod kernel_records;
mod layout;
mod losses;
mod machine;
mod packing;
mod raw_records;
mod read_values;
mod record;
mod recording;
mod registers;
mod sample;
mod sample_decode;
mod scan;
mod schema;
mod session;
mod shared_bytes;
mod simpleperf_files;
mod simpleperf_records;
mod source;
mod splits;
mod trace_format;
mod tracing_data;
mod user_records;
mod visit;
mod walker;
mod window;

#[cfg(test)]
mod tests;

pub use attr::{AttrFlags, EventAttr, ReadFormat, SampleType};
pub use branch_stack::{Branch, BranchFlags, BranchStack};
pub use build_ids::BuildIdEntry;
pub use callchain::{Callchain, Context};
pub use counts::{KindCount, RecordCounts};
pub use cursor::{Cursor, Endian, Words};
pub use error::Error;
pub use event::Event;
pub use feature_types::{
    AuxtraceIndex, BpfProgram, Btf, CacheLevel, ClockData, CompressedInfo, CpuCount, CpuDomain,
    CpuLocation, CpuTopology, EventDesc, GroupDesc, HybridNode, MachineCode, MemoryNode,
    MemoryTopology, NumaNode, PmuCaps, PmuMapping,
};
pub use features::Features;
pub use finding::{Finding, HeaderFault, Severity};
pub use findings::{FindingGroup, Findings};
pub use head::Head;
pub use input::Input;
pub use kernel_records::{
    Aux, BpfEvent, CallchainDeferred, Cgroup, Comm, Ksymbol, Lost, Mmap, MmapId, Namespace,
    Namespaces, Switch, Task, TextPoke, Throttle,
};
pub use losses::{EventLosses, Losses};
pub use machine::{Arch, Machine, MachineSource};
pub use raw_records::{RawBody, RawRecord, RawRecords};
pub use read_values::{ReadValue, ReadValues};
pub use record::{CpuMode, Record, RecordHeader, RecordKind, SampleId};
pub use recording::Recording;
pub use registers::{Registers, RegsAbi};
pub use sample::{Sample, SampleDamage, SampleError, UserStack, Weight};
pub use scan::{SampleEntry, Scan, TimedRecord};
pub use session::{Session, SessionOptions};
pub use shared_bytes::SharedBytes;
pub use simpleperf_files::{SimpleperfFile, SimpleperfSymbol};
pub use simpleperf_records::{SimpleperfChain, SimpleperfRecord};
pub use trace_format::{TraceField, TraceFormat, TraceKind, TraceValue};
pub use tracing_data::TracingData;
pub use user_records::{Auxtrace, EventUpdate, IdIndexEntry, ThreadMapEntry, TimeConv, UserRecord};
pub use visit::{Visited, visit_records};
pub use window::{RecordEntry, Window};
