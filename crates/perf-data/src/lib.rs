//! The parser of Linux `perf.data` recordings: bytes in, borrowed and typed records out, in time order.
//!
//! A recording is a list of *records*. Most are *samples*: the address, registers and part of the stack of a thread at
//! one time. The others are needed to interpret samples: mapped files (MMAP2), new processes (FORK), thread names
//! (COMM). This crate decodes them. Its users apply them to processes and open the files that they name; the crate
//! opens no files and does not parse ELF.
//!
//! There are two entry points:
//! - [`Session`] reads a recording of any kind: file, pipe stream, with compressed records, compressed as a whole, or
//!   directory. It returns [`Batch`]es in time order. A thread makes the next batch while the user processes the last
//!   one.
//! - [`visit_records`] calls a function with every record, decoded, in file order.
//!
//! Damage does not end the reading: it is reported in [`Findings`], and all sound records are returned.
//! An [`Error`] means that there is no recording at all.
//!
//! ```text
//!   Input ──open──> Session { head } ──next_batch──> Batch { samples: [SampleEntry], records, head }
//!                                                        └───sample(&SampleEntry)──> Sample { ip, registers, ... }
//! ```
//!
//! ```
//! use perf_data::{Findings, Input, Record, Session, SessionOptions, SharedBytes};
//! use synth::{Endian, EventAttr, PerfDataBuilder, SampleBuilder, SampleId};
//!
//! // A recording: thread 7 gets its name at 10 ns and is found at two addresses after that.
//! let mut recording = PerfDataBuilder::new(Endian::Little);
//! recording.event("cycles:u", EventAttr::dwarf(0xff_0fff), &[1]);
//! recording.describe_events();
//! let name = synth::Record::Comm { pid: 7, tid: 7, comm: b"worker", exec: true };
//! recording.record_at(&name, SampleId::at(7, 7, 10));
//! recording.sample(&SampleBuilder::at(0x40_1000, 7, 7, 30));
//! recording.sample(&SampleBuilder::at(0x40_2000, 7, 7, 20));
//!
//! let mut findings = Findings::default();
//! let input = Input::File(SharedBytes::from(recording.build()));
//! let mut session = Session::open(input, SessionOptions::default(), &mut findings)?;
//! assert_eq!(session.head().events()[0].name, "cycles:u");
//!
//! let mut lines = Vec::new();
//! while let Some(batch) = session.next_batch(&mut findings) {
//!     for record in batch.records() {
//!         if let Record::Comm(comm) = record.record {
//!             lines.push(format!("{} {}", record.time.0, String::from_utf8_lossy(comm.comm)));
//!         }
//!     }
//!     for entry in batch.samples() {
//!         let sample = batch.sample(entry).expect("an entry of this batch");
//!         lines.push(format!("{} {:#x}", sample.time.0, sample.ip.expect("an address").0));
//!     }
//! }
//! // In the order of time, whatever the order in the file.
//! assert_eq!(lines, ["10 worker", "20 0x402000", "30 0x401000"]);
//! assert!(findings.is_empty());
//! # Ok::<(), perf_data::Error>(())
//! ```
//!
//! # Folders
//! Each folder may use only those listed before it.
//!
//! | folder | content |
//! |---|---|
//! | files beside this one | byte order, shared bytes, headers of records, errors |
//! | `finding` | damage and oddities of a recording |
//! | `event` | attributes, and the offsets of the fields of an event's records |
//! | `record` | decoding of single records |
//! | `tracing` | formats of tracepoints: their names, and the fields and the text of the raw bytes of their samples |
//! | `container` | data around the records: file header, features, names of events |
//! | `trace_texts` | texts of samples, by the format of their event |
//! | `fields` | selected fields of samples, by their event |
//! | `stream` | bytes of files and streams to records in file order: damage, compressed records |
//! | `session` | records to batches in time order; the entry points |
//!
//! # Known differences to `perf`
//! - Records of a file are ordered by (time, position) over the whole file. Rounds are used only for streams and
//!   expanded bytes, to determine which records are complete.
//! - Attributes larger than the newest known one are read by their known prefix; `perf` refuses the file.
//! - Truncated and unfinished recordings are read up to their last whole record; `perf` refuses them or crashes.
//! - Unknown record types are skipped by their size; a damaged record is skipped up to the next chain of headers.
//! - A recording in file form that is compressed as a whole is expanded before it is
//!   read, because its build-ids are at its end.
//! - A sample with a wrong count inside retains all fields before that count; `perf` stops reading there.

mod bytes;
mod container;
mod error;
mod event;
mod fields;
mod finding;
mod prefetch;
mod record;
mod record_header;
mod record_types;
mod session;
mod shared_bytes;
mod stream;
mod succession;
mod trace_texts;
mod tracing;

#[cfg(test)]
mod tests;

pub use bytes::{Endian, Words};
pub use container::{
    AuxtraceIndex, BpfProgram, Btf, CacheLevel, ChainEvidence, ChainEvidenceWriter, ChainShape,
    ClockData, CompressedInfo, CpuCount, CpuDomain, CpuLocation, CpuTopology, EventDesc, Feature,
    Features, FrameRun, GroupDesc, Head, HybridNode, MachineCode, MachineSource, MemoryNode,
    MemoryTopology, NumaNode, PmuCaps, PmuMapping, RecordedMachine, SimpleperfFile,
    SimpleperfSymbol,
};
pub use error::Error;
pub use event::{AttrFlags, Event, EventAttr, ReadFormat, SampleType};
pub use fields::{FieldColumn, RecordedFields, SelectedFields};
pub use finding::{Finding, FindingGroup, Findings, HeaderFault, Severity};
pub use prefetch::{LINE, prefetch_line};
pub use record::kernel::*;
pub use record::map::*;
pub use record::{
    Auxtrace, Branch, BranchFlags, BranchStack, BuildIdEntry, Callchain, CallchainContext,
    EventUpdate, IdIndexEntry, ReadValue, ReadValues, RecordedRegisters, RegsAbi, Sample,
    SampleDamage, SampleError, SampleId, SimpleperfChain, SimpleperfRecord, ThreadMap,
    ThreadMapEntry, TimeConv, TimedRecord, UserRecord, UserStack, Weight,
};
pub use record_header::{CpuMode, RecordHeader, RecordKind};
pub use record_types::RecordContent;
pub use session::{
    Batch, BatchReader, EagerBatches, Input, LiveBatches, NextBatch, RawBody, RawRecord,
    RecordEntry, SampleEntry, Session, SessionOptions, VisitSummary, visit_records,
};
pub use shared_bytes::SharedBytes;
pub use stream::{EventLosses, KindCount, LiveRead, Losses, RecordCounts, ScanOptions};
pub use succession::StreamSuccession;
pub use trace_texts::TraceTexts;
pub use tracing::{
    KernelAddress, PrintFormat, SchedSwitch, TraceField, TraceFormat, TraceKind, TraceValue,
    TracingData, with_symbols,
};
