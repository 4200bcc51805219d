//! Data around the records of a recording: file header, features, head of a file or stream.

mod attr_section;
mod chain_evidence;
mod compression;
mod event_name;
mod feature;
mod feature_decode;
mod feature_types;
mod features;
mod file_head;
mod head;
mod header;
mod machine;
mod name_events;
mod simpleperf_files;

pub use chain_evidence::{ChainEvidence, ChainEvidenceWriter, ChainShape, FrameRun};
pub(crate) use compression::Compression;
pub use feature::Feature;
pub use feature_types::{
    AuxtraceIndex, BpfProgram, Btf, CacheLevel, ClockData, CompressedInfo, CpuCount, CpuDomain,
    CpuLocation, CpuTopology, EventDesc, GroupDesc, HybridNode, MachineCode, MemoryNode,
    MemoryTopology, NumaNode, PmuCaps, PmuMapping,
};
pub use features::Features;
pub(crate) use file_head::FileHead;
pub use head::Head;
pub(crate) use head::change;
pub(crate) use header::{PIPE_HEADER, check_magic};
pub use machine::{MachineSource, RecordedMachine};
pub use simpleperf_files::{SimpleperfFile, SimpleperfSymbol};
