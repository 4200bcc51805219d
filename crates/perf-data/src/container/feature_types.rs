//! The values that feature sections hold, borrowed from the recording. Text is bytes: nothing promises UTF-8.
//!
//! Source: `tools/perf/Documentation/perf.data-file-format.txt`; where it differs, `tools/perf/util/header.c`.

use address::Timestamp;

use crate::bytes::Words;
use crate::event::EventAttr;

/// `NRCPUS`: how many processors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CpuCount {
    /// Configured processors; first in the section, whatever its documentation says.
    pub available: u32,
    /// Processors that ran.
    pub online: u32,
}

/// `EVENT_DESC`: one event with the name the user gave it.
#[derive(Clone, Debug)]
pub struct EventDesc<'d> {
    /// The attribute.
    pub attr: EventAttr,
    /// The name.
    pub name: &'d [u8],
    /// The ids.
    pub ids: Vec<u64>,
}

/// Where a processor is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CpuLocation {
    /// Core within the socket.
    pub core: u32,
    /// Socket.
    pub socket: u32,
    /// Die within the socket; 0 where not recorded.
    pub die: u32,
}

/// `CPU_TOPOLOGY`: processors that share cores, threads and dies, as lists such as `0-3,8`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CpuTopology<'d> {
    /// Sets of processors of one package.
    pub cores: Vec<&'d [u8]>,
    /// Sets of processors of one core.
    pub threads: Vec<&'d [u8]>,
    /// Sets of processors of one die; empty where not recorded.
    pub dies: Vec<&'d [u8]>,
    /// One for each available processor; empty where not recorded.
    pub locations: Vec<CpuLocation>,
}

/// `NUMA_TOPOLOGY`: one node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NumaNode<'d> {
    /// Its id.
    pub node: u32,
    /// Its memory in KiB.
    pub total_kib: u64,
    /// Its free memory in KiB.
    pub free_kib: u64,
    /// Its processors, as a list.
    pub cpus: &'d [u8],
}

/// `PMU_MAPPINGS`: the id that attributes use for a PMU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PmuMapping<'d> {
    /// `EventAttr::kind` of its events.
    pub kind: u32,
    /// Its name.
    pub name: &'d [u8],
}

/// `GROUP_DESC`: events that were counted together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupDesc<'d> {
    /// Name of the group, often empty.
    pub name: &'d [u8],
    /// Index of the leading event.
    pub leader: u32,
    /// How many events, the leader included.
    pub members: u32,
}

/// `AUXTRACE`: where an AUX area record is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AuxtraceIndex {
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Bytes, the record header included.
    pub size: u64,
}

/// `CACHE`: one processor cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CacheLevel<'d> {
    /// Level, from 1.
    pub level: u32,
    /// Bytes of a line.
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

/// `MEM_TOPOLOGY`: one node's memory blocks.
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
    /// Bytes of a block.
    pub block_size: u64,
    /// The nodes.
    pub nodes: Vec<MemoryNode<'d>>,
}

/// `BPF_PROG_INFO`: one BPF program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BpfProgram<'d> {
    /// Which arrays `data` has.
    pub arrays: u64,
    /// `struct bpf_prog_info`; its pointers are offsets into `data`.
    pub info: &'d [u8],
    /// What the pointers point to.
    pub data: &'d [u8],
}

/// `BPF_BTF`: one set of BPF type information.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Btf<'d> {
    /// Its id.
    pub id: u32,
    /// Its bytes.
    pub data: &'d [u8],
}

/// `COMPRESSED`: how records were compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CompressedInfo {
    /// Version of this section.
    pub version: u32,
    /// 1 for zstd.
    pub kind: u32,
    /// Level of compression.
    pub level: u32,
    /// Ratio reached.
    pub ratio: u32,
    /// Bytes of the recorder's buffers: no chunk expands to more.
    pub mmap_len: u32,
}

/// `CLOCK_DATA`: one moment on two clocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockData {
    /// The clock of time stamps, as for `clock_gettime`.
    pub clockid: u32,
    /// The moment as nanoseconds of 1970.
    pub wall_ns: u64,
    /// The same moment on the clock of time stamps.
    pub time: Timestamp,
}

/// `HYBRID_TOPOLOGY`: which processors a PMU of a hybrid machine counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HybridNode<'d> {
    /// Name of the PMU.
    pub pmu: &'d [u8],
    /// Its processors, as a list.
    pub cpus: &'d [u8],
}

/// `PMU_CAPS`: what a PMU can do, names with values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PmuCaps<'d> {
    /// Name of the PMU.
    pub pmu: &'d [u8],
    /// Names with values.
    pub caps: Vec<(&'d [u8], &'d [u8])>,
}

/// `CPU_DOMAIN_INFO`: one scheduling domain of a processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CpuDomain<'d> {
    /// The processor.
    pub cpu: u32,
    /// The domain's level.
    pub domain: u32,
    /// Its name; empty where not recorded.
    pub name: &'d [u8],
    /// Its processors, as a mask.
    pub mask: &'d [u8],
    /// Its processors, as a list.
    pub cpus: &'d [u8],
}

/// `E_MACHINE`: the machine as ELF files name it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MachineCode {
    /// `e_machine`.
    pub e_machine: u32,
    /// `e_flags`.
    pub e_flags: u32,
}
