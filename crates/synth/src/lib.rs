//! Writes recordings, stacks and ELF files for tests.
//!
//! The layouts are taken from the public sources and share no code with the readers of this workspace. So a layout that
//! a reader misunderstands cannot agree with itself here.
//! Wrong values are accepted if a field can hold them; panics report mistakes of the test.

mod bytes;
mod cfi;
mod convert;
mod elf;
mod go;
mod perf;
mod regs;
mod stack;
mod zip;

pub use bytes::{ByteWriter, Endian};
pub use cfi::{
    CfiBuilder, CfiKind, CfiOps, CfiSection, Cie, CieIdx, DwarfExpr, Fde, eh_frame_hdr, eh_pe,
};
pub use convert::byte_swapped::big_endian_copy;
pub use convert::containers::RecordingParts;
pub use convert::stack_truncation::truncate_stacks;
pub use convert::withheld_frames::withhold_frames;
pub use elf::{
    DynamicTables, ElfBuilder, ElfClass, HashTables, Section, Segment, Symbol, SymbolSection,
    elf_const, gnu_build_id_note, gnu_debuglink,
};
pub use go::{GoFunctionSpec, GoTableBuilder, GoTableBytes};
pub use perf::attr::{EventAttr, attr_flag, branch_sample, read_format, sample_type};
pub use perf::compressed::{CompressedKind, Compressor, ZstdStream};
pub use perf::feature::{CacheLevel, Capability, EventDesc, Feature};
pub use perf::file::{FileLayout, PerfDataBuilder, PerfDataFile};
pub use perf::pipe::PipeLayout;
pub use perf::record::{MmapFile, Record, SampleId};
pub use perf::record_bytes;
pub use perf::sample::{
    Branch, BranchStack, ReadValue, ReadValues, SampleBuilder, SampleRegs, SampleStack,
};
pub use perf::simpleperf::{simpleperf_meta_info, simpleperf_record, simpleperf_split};
pub use perf::user_record::{BuildIdEntry, UserRecord};
pub use regs::{UserRegs, aarch64_reg, arm_reg, riscv64_reg, x86_64_reg};
pub use stack::StackBuilder;
pub use zip::stored_zip;
