//! Decoding of feature sections. Each function takes the section's bytes and returns `None` if they cannot be parsed.
//! Lists grow as entries are read, so a hostile count allocates no memory.
//!
//! Source: `tools/perf/util/header.c`, the `process_*` functions.

use address::Timestamp;

use super::feature_types::{
    AuxtraceIndex, BpfProgram, Btf, CacheLevel, ClockData, CompressedInfo, CpuCount, CpuDomain,
    CpuLocation, CpuTopology, EventDesc, GroupDesc, HybridNode, MachineCode, MemoryNode,
    MemoryTopology, NumaNode, PmuCaps, PmuMapping,
};
use crate::bytes::FieldReader;
use crate::event::EventAttr;

/// Reads a u32 count and that many entries.
fn list<'d, T>(
    cursor: &mut FieldReader<'d>,
    mut entry: impl FnMut(&mut FieldReader<'d>) -> Option<T>,
) -> Option<Vec<T>> {
    let count = cursor.u32()?;
    let mut entries = Vec::new();
    for _ in 0..count {
        // Every entry takes bytes, so the loop ends with the section.
        entries.push(entry(cursor)?);
    }
    Some(entries)
}

pub(crate) fn strings<'d>(cursor: &mut FieldReader<'d>) -> Option<Vec<&'d [u8]>> {
    list(cursor, FieldReader::string)
}

pub(crate) fn string_pairs<'d>(cursor: &mut FieldReader<'d>) -> Option<Vec<(&'d [u8], &'d [u8])>> {
    list(cursor, |cursor| Some((cursor.string()?, cursor.string()?)))
}

pub(crate) fn cpu_count(cursor: &mut FieldReader<'_>) -> Option<CpuCount> {
    Some(CpuCount { available: cursor.u32()?, online: cursor.u32()? })
}

pub(crate) fn event_descs<'d>(cursor: &mut FieldReader<'d>) -> Option<Vec<EventDesc<'d>>> {
    let count = cursor.u32()?;
    let attr_size = cursor.u32()?;
    let endian = cursor.endian();
    let mut descs = Vec::new();
    for _ in 0..count {
        let attr = EventAttr::parse(cursor.bytes_u64(attr_size.into())?, endian)?;
        let ids = cursor.u32()?;
        let name = cursor.string()?;
        descs.push(EventDesc { attr, name, ids: cursor.words(ids.into())?.iter().collect() });
    }
    Some(descs)
}

/// Reads the topology. Later versions append parts, which are detected by the remaining bytes.
pub(crate) fn cpu_topology<'d>(
    cursor: &mut FieldReader<'d>,
    cpus: Option<CpuCount>,
) -> Option<CpuTopology<'d>> {
    let cores = strings(cursor)?;
    let threads = strings(cursor)?;
    let mut topology = CpuTopology { cores, threads, ..CpuTopology::default() };
    let Some(cpus) = cpus else { return Some(topology) };
    for _ in 0..cpus.available {
        let (Some(core), Some(socket)) = (cursor.u32(), cursor.u32()) else { break };
        topology.locations.push(CpuLocation { core, socket, die: 0 });
    }
    if cursor.remaining() > 0 {
        topology.dies = strings(cursor)?;
        for location in &mut topology.locations {
            location.die = cursor.u32()?;
        }
    }
    Some(topology)
}

pub(crate) fn numa_nodes<'d>(cursor: &mut FieldReader<'d>) -> Option<Vec<NumaNode<'d>>> {
    list(cursor, |cursor| {
        let node = cursor.u32()?;
        Some(NumaNode {
            node,
            total_kib: cursor.u64()?,
            free_kib: cursor.u64()?,
            cpus: cursor.string()?,
        })
    })
}

pub(crate) fn pmu_mappings<'d>(cursor: &mut FieldReader<'d>) -> Option<Vec<PmuMapping<'d>>> {
    list(cursor, |cursor| Some(PmuMapping { kind: cursor.u32()?, name: cursor.string()? }))
}

pub(crate) fn groups<'d>(cursor: &mut FieldReader<'d>) -> Option<Vec<GroupDesc<'d>>> {
    list(cursor, |cursor| {
        Some(GroupDesc { name: cursor.string()?, leader: cursor.u32()?, members: cursor.u32()? })
    })
}

pub(crate) fn auxtrace_index(cursor: &mut FieldReader<'_>) -> Option<Vec<AuxtraceIndex>> {
    let count = cursor.u64()?;
    let mut entries = Vec::new();
    for _ in 0..count {
        entries.push(AuxtraceIndex { offset: cursor.u64()?, size: cursor.u64()? });
    }
    Some(entries)
}

pub(crate) fn caches<'d>(cursor: &mut FieldReader<'d>) -> Option<Vec<CacheLevel<'d>>> {
    let _version = cursor.u32()?;
    list(cursor, |cursor| {
        let [level, line_size, sets, ways] =
            [cursor.u32()?, cursor.u32()?, cursor.u32()?, cursor.u32()?];
        let [kind, size, cpus] = [cursor.string()?, cursor.string()?, cursor.string()?];
        Some(CacheLevel { level, line_size, sets, ways, kind, size, cpus })
    })
}

pub(crate) fn sample_time(cursor: &mut FieldReader<'_>) -> Option<(Timestamp, Timestamp)> {
    Some((Timestamp(cursor.u64()?), Timestamp(cursor.u64()?)))
}

/// Reads the memory blocks of nodes. Each bitmap is preceded by its number of bits, a copy of the node's `nbits`.
pub(crate) fn memory_topology<'d>(cursor: &mut FieldReader<'d>) -> Option<MemoryTopology<'d>> {
    let _version = cursor.u64()?;
    let block_size = cursor.u64()?;
    let count = cursor.u64()?;
    let mut nodes = Vec::new();
    for _ in 0..count {
        let node = cursor.u64()?;
        let _size = cursor.u64()?;
        let bits = cursor.u64()?;
        nodes.push(MemoryNode { node, bits, bitmap: cursor.words(bits.div_ceil(64))? });
    }
    Some(MemoryTopology { block_size, nodes })
}

pub(crate) fn bpf_programs<'d>(cursor: &mut FieldReader<'d>) -> Option<Vec<BpfProgram<'d>>> {
    list(cursor, |cursor| {
        let info_len = cursor.u32()?;
        let data_len = cursor.u32()?;
        let arrays = cursor.u64()?;
        let info = cursor.bytes_u64(info_len.into())?;
        Some(BpfProgram { arrays, info, data: cursor.bytes_u64(data_len.into())? })
    })
}

pub(crate) fn btf<'d>(cursor: &mut FieldReader<'d>) -> Option<Vec<Btf<'d>>> {
    list(cursor, |cursor| {
        let id = cursor.u32()?;
        let size = cursor.u32()?;
        Some(Btf { id, data: cursor.bytes_u64(size.into())? })
    })
}

pub(crate) fn compressed(cursor: &mut FieldReader<'_>) -> Option<CompressedInfo> {
    Some(CompressedInfo {
        version: cursor.u32()?,
        kind: cursor.u32()?,
        level: cursor.u32()?,
        ratio: cursor.u32()?,
        mmap_len: cursor.u32()?,
    })
}

pub(crate) fn clock_data(cursor: &mut FieldReader<'_>) -> Option<ClockData> {
    let _version = cursor.u32()?;
    let clockid = cursor.u32()?;
    Some(ClockData { clockid, wall_ns: cursor.u64()?, time: Timestamp(cursor.u64()?) })
}

pub(crate) fn hybrid_nodes<'d>(cursor: &mut FieldReader<'d>) -> Option<Vec<HybridNode<'d>>> {
    list(cursor, |cursor| Some(HybridNode { pmu: cursor.string()?, cpus: cursor.string()? }))
}

pub(crate) fn pmu_caps<'d>(cursor: &mut FieldReader<'d>) -> Option<Vec<PmuCaps<'d>>> {
    list(cursor, |cursor| {
        let caps = string_pairs(cursor)?;
        Some(PmuCaps { pmu: cursor.string()?, caps })
    })
}

/// Reads scheduling domains up to the end of the section. They have names since version 17 of `/proc/schedstat`.
pub(crate) fn cpu_domains<'d>(cursor: &mut FieldReader<'d>) -> Option<Vec<CpuDomain<'d>>> {
    let version = cursor.u32()?;
    let _max_domains = cursor.u32()?;
    let mut domains = Vec::new();
    while cursor.remaining() >= 8 {
        let cpu = cursor.u32()?;
        for _ in 0..cursor.u32()? {
            let domain = cursor.u32()?;
            let name = if version >= 17 { cursor.string()? } else { &[] };
            domains.push(CpuDomain {
                cpu,
                domain,
                name,
                mask: cursor.string()?,
                cpus: cursor.string()?,
            });
        }
    }
    Some(domains)
}

pub(crate) fn machine_code(cursor: &mut FieldReader<'_>) -> Option<MachineCode> {
    Some(MachineCode { e_machine: cursor.u32()?, e_flags: cursor.u32()? })
}

/// Reads simpleperf's `META_INFO`: pairs of a key and a value, each terminated by NUL.
pub(crate) fn meta_info(section: &[u8]) -> Vec<(&[u8], &[u8])> {
    let mut parts = section.split(|&byte| byte == 0);
    let mut pairs = Vec::new();
    while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
        pairs.push((key, value));
    }
    pairs
}
