//! Contents of feature sections, borrowed from the recording. Text is bytes, because UTF-8 is not guaranteed.
//!
//! Source: `tools/perf/Documentation/perf.data-file-format.txt`; if they differ, `tools/perf/util/header.c`.

use address::Timestamp;

use crate::bytes::Words;
use crate::event::EventAttr;

/// `NRCPUS`: number of processors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CpuCount {
    /// Configured processors; first in the section, in contrast to its documentation.
    pub available: u32,
    /// Online processors.
    pub online: u32,
}

/// `EVENT_DESC`: an event with the name given by the user.
#[derive(Clone, Debug)]
pub struct EventDesc<'d> {
    /// Attribute.
    pub attr: EventAttr,
    /// Name.
    pub name: &'d [u8],
    /// Ids.
    pub ids: Vec<u64>,
}

/// Location of a processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CpuLocation {
    /// Core within the socket.
    pub core: u32,
    /// Socket.
    pub socket: u32,
    /// Die within the socket; 0 if not recorded.
    pub die: u32,
}

/// `CPU_TOPOLOGY`: processors that share cores, threads and dies, as lists such as `0-3,8`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CpuTopology<'d> {
    /// Sets of processors of one package.
    pub cores: Vec<&'d [u8]>,
    /// Sets of processors of one core.
    pub threads: Vec<&'d [u8]>,
    /// Sets of processors of one die; empty if not recorded.
    pub dies: Vec<&'d [u8]>,
    /// One for each available processor; empty if not recorded.
    pub locations: Vec<CpuLocation>,
}

/// `NUMA_TOPOLOGY`: a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NumaNode<'d> {
    /// Id.
    pub node: u32,
    /// Total memory in KiB.
    pub total_kib: u64,
    /// Free memory in KiB.
    pub free_kib: u64,
    /// Processors, as a list.
    pub cpus: &'d [u8],
}

/// `PMU_MAPPINGS`: id of a PMU in attributes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PmuMapping<'d> {
    /// `EventAttr::kind` of its events.
    pub kind: u32,
    /// Name.
    pub name: &'d [u8],
}

/// `GROUP_DESC`: events that were counted together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupDesc<'d> {
    /// Name of the group, often empty.
    pub name: &'d [u8],
    /// Index of the leading event.
    pub leader: u32,
    /// Number of events, including the leader.
    pub members: u32,
}

/// `AUXTRACE`: location of an AUX area record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AuxtraceIndex {
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Length in bytes, including the record header.
    pub size: u64,
}

/// `CACHE`: a processor cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CacheLevel<'d> {
    /// Level, from 1.
    pub level: u32,
    /// Size of a line, in bytes.
    pub line_size: u32,
    /// Sets.
    pub sets: u32,
    /// Ways.
    pub ways: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: &'d [u8],
    /// Size as text, such as `32K`.
    pub size: &'d [u8],
    /// Processors that share it, as a list.
    pub cpus: &'d [u8],
}

/// `MEM_TOPOLOGY`: memory blocks of a node.
#[derive(Clone, Copy, Debug)]
pub struct MemoryNode<'d> {
    /// The node.
    pub node: u64,
    /// Number of bits in the bitmap.
    pub bits: u64,
    /// Bitmap of memory blocks.
    pub bitmap: Words<'d>,
}

/// `MEM_TOPOLOGY`.
#[derive(Clone, Debug)]
pub struct MemoryTopology<'d> {
    /// Size of a block, in bytes.
    pub block_size: u64,
    /// The nodes.
    pub nodes: Vec<MemoryNode<'d>>,
}

/// `BPF_PROG_INFO`: a BPF program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BpfProgram<'d> {
    /// Bitmap of the arrays in `data`.
    pub arrays: u64,
    /// `struct bpf_prog_info`; its pointers are offsets into `data`.
    pub info: &'d [u8],
    /// Targets of the pointers.
    pub data: &'d [u8],
}

/// `BPF_BTF`: a set of BPF type information.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Btf<'d> {
    /// Id.
    pub id: u32,
    /// Content.
    pub data: &'d [u8],
}

/// `COMPRESSED`: compression of the records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CompressedInfo {
    /// Version of this section.
    pub version: u32,
    /// 1 for zstd.
    pub kind: u32,
    /// Compression level.
    pub level: u32,
    /// Achieved ratio.
    pub ratio: u32,
    /// Size of the recorder's buffers, in bytes: no chunk expands to more.
    pub mmap_len: u32,
}

/// `CLOCK_DATA`: one time on two clocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockData {
    /// The clock of time stamps, as for `clock_gettime`.
    pub clockid: u32,
    /// The time in nanoseconds since 1970.
    pub wall_ns: u64,
    /// The same time on the clock of time stamps.
    pub time: Timestamp,
}

/// `HYBRID_TOPOLOGY`: processors of a PMU on a hybrid machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HybridNode<'d> {
    /// Name of the PMU.
    pub pmu: &'d [u8],
    /// Processors, as a list.
    pub cpus: &'d [u8],
}

/// `PMU_CAPS`: capabilities of a PMU, as names and values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PmuCaps<'d> {
    /// Name of the PMU.
    pub pmu: &'d [u8],
    /// Names and values.
    pub caps: Vec<(&'d [u8], &'d [u8])>,
}

/// `CPU_DOMAIN_INFO`: a scheduling domain of a processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CpuDomain<'d> {
    /// The processor.
    pub cpu: u32,
    /// Level of the domain.
    pub domain: u32,
    /// Name; empty if not recorded.
    pub name: &'d [u8],
    /// Processors, as a mask.
    pub mask: &'d [u8],
    /// Processors, as a list.
    pub cpus: &'d [u8],
}

/// `E_MACHINE`: machine code, as in ELF files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MachineCode {
    /// `e_machine`.
    pub e_machine: u32,
    /// `e_flags`.
    pub e_flags: u32,
}
