//! Decoded records: one enum over all types, and the header and trailer that records share.
//!
//! Source: `include/uapi/linux/perf_event.h`, `enum perf_event_type`; `tools/lib/perf/include/perf/event.h`,
//! `enum perf_user_event_type`.

mod branch_stack;
mod build_ids;
mod callchain;
mod header_rules;
pub(crate) mod kernel;
pub(crate) mod map;
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
pub(crate) use kernel::*;
pub(crate) use map::*;
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
