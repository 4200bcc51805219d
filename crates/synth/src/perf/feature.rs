//! Payloads of the feature sections, the same in a file and in a `HEADER_FEATURE` record.

use super::attr::EventAttr;
use super::user_record::BuildIdEntry;
use crate::bytes::{ByteWriter, Endian};

/// One event of `EVENT_DESC`.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "attribute, ids and name of an event need no words")]
pub struct EventDesc<'a> {
    pub attr: &'a EventAttr,
    pub ids: &'a [u64],
    pub name: &'a str,
}

/// A cache in the CACHE feature.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the fields are those of struct cpu_cache_level")]
pub struct CacheLevel<'a> {
    pub level: u32,
    pub line_size: u32,
    pub sets: u32,
    pub ways: u32,
    pub kind: &'a str,
    pub size: &'a str,
    pub map: &'a str,
}

/// Name and value of a capability.
pub type Capability<'a> = (&'a str, &'a str);

/// A feature section; [`Feature::Raw`] for simpleperf's and unknown ones.
///
/// ```
/// use synth::{Endian, Feature};
/// assert_eq!(Feature::NrCpus { available: 4, online: 2 }.bit(), 7);
/// let bytes = Feature::NrCpus { available: 4, online: 2 }.encode(Endian::Little);
/// assert_eq!(bytes, [4, 0, 0, 0, 2, 0, 0, 0]);
/// ```
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names are those of perf's header.h")]
pub enum Feature<'a> {
    TracingData(&'a [u8]),
    BuildId(&'a [BuildIdEntry<'a>]),
    Hostname(&'a str),
    OsRelease(&'a str),
    Version(&'a str),
    Arch(&'a str),
    NrCpus {
        available: u32,
        online: u32,
    },
    CpuDesc(&'a str),
    CpuId(&'a str),
    /// In kB.
    TotalMem(u64),
    Cmdline(&'a [&'a str]),
    EventDesc {
        attr_size: u32,
        events: &'a [EventDesc<'a>],
    },
    /// Core and socket of each cpu; the die part is omitted if `die_list` is empty.
    CpuTopology {
        cores: &'a [&'a str],
        threads: &'a [&'a str],
        cpus: &'a [(u32, u32)],
        die_list: &'a [&'a str],
        dies: &'a [u32],
    },
    /// Node, total kB, free kB, cpu list.
    NumaTopology(&'a [(u32, u64, u64, &'a str)]),
    BranchStack,
    PmuMappings(&'a [(u32, &'a str)]),
    /// Name, index of the leader, number of members.
    GroupDesc(&'a [(&'a str, u32, u32)]),
    /// File offset and size of each AUXTRACE record with its data.
    Auxtrace(&'a [(u64, u64)]),
    Stat,
    Cache(&'a [CacheLevel<'a>]),
    /// Nanoseconds.
    SampleTime {
        first: u64,
        last: u64,
    },
    /// Node, size in blocks, bitmap words.
    MemTopology {
        block_size: u64,
        nodes: &'a [(u64, u64, &'a [u64])],
    },
    ClockId {
        resolution_ns: u64,
    },
    DirFormat {
        version: u64,
    },
    /// Bitmap of arrays, info, data.
    BpfProgInfo(&'a [(u64, &'a [u8], &'a [u8])]),
    BpfBtf(&'a [(u32, &'a [u8])]),
    Compressed {
        level: u32,
        ratio: u32,
        mmap_len: u32,
    },
    CpuPmuCaps(&'a [Capability<'a>]),
    ClockData {
        clockid: u32,
        wall_clock_ns: u64,
        clockid_ns: u64,
    },
    HybridTopology(&'a [(&'a str, &'a str)]),
    PmuCaps(&'a [(&'a [Capability<'a>], &'a str)]),
    /// The payload unchanged, since its layout depends on the scheduler statistics version.
    CpuDomainInfo(&'a [u8]),
    EMachine {
        e_machine: u32,
        e_flags: u32,
    },
    ClnSize(u32),
    Raw {
        bit: u8,
        payload: &'a [u8],
    },
}

impl Feature<'_> {
    /// Source: the `HEADER_*` enum of `tools/perf/util/header.h`.
    #[must_use]
    pub fn bit(&self) -> u8 {
        match self {
            Self::TracingData(_) => 1,
            Self::BuildId(_) => 2,
            Self::Hostname(_) => 3,
            Self::OsRelease(_) => 4,
            Self::Version(_) => 5,
            Self::Arch(_) => 6,
            Self::NrCpus { .. } => 7,
            Self::CpuDesc(_) => 8,
            Self::CpuId(_) => 9,
            Self::TotalMem(_) => 10,
            Self::Cmdline(_) => 11,
            Self::EventDesc { .. } => 12,
            Self::CpuTopology { .. } => 13,
            Self::NumaTopology(_) => 14,
            Self::BranchStack => 15,
            Self::PmuMappings(_) => 16,
            Self::GroupDesc(_) => 17,
            Self::Auxtrace(_) => 18,
            Self::Stat => 19,
            Self::Cache(_) => 20,
            Self::SampleTime { .. } => 21,
            Self::MemTopology { .. } => 22,
            Self::ClockId { .. } => 23,
            Self::DirFormat { .. } => 24,
            Self::BpfProgInfo(_) => 25,
            Self::BpfBtf(_) => 26,
            Self::Compressed { .. } => 27,
            Self::CpuPmuCaps(_) => 28,
            Self::ClockData { .. } => 29,
            Self::HybridTopology(_) => 30,
            Self::PmuCaps(_) => 31,
            Self::CpuDomainInfo(_) => 32,
            Self::EMachine { .. } => 33,
            Self::ClnSize(_) => 34,
            Self::Raw { bit, .. } => *bit,
        }
    }

    /// Returns the payload.
    ///
    /// Source: the `write_*` functions of `tools/perf/util/header.c`.
    #[must_use]
    pub fn encode(&self, endian: Endian) -> Vec<u8> {
        let mut w = ByteWriter::new(endian);
        if !self.write_list(&mut w) {
            self.write_plain(&mut w);
        }
        w.into_bytes()
    }

    /// Writes features without repeated parts.
    fn write_plain(&self, w: &mut ByteWriter) {
        match *self {
            Self::TracingData(bytes)
            | Self::CpuDomainInfo(bytes)
            | Self::Raw { payload: bytes, .. } => {
                w.bytes(bytes);
            }
            Self::Hostname(text)
            | Self::OsRelease(text)
            | Self::Version(text)
            | Self::Arch(text)
            | Self::CpuDesc(text)
            | Self::CpuId(text) => string(w, text),
            Self::NrCpus { available, online } => {
                w.u32(available).u32(online);
            }
            Self::TotalMem(value)
            | Self::ClockId { resolution_ns: value }
            | Self::DirFormat { version: value } => {
                w.u64(value);
            }
            Self::SampleTime { first, last } => {
                w.u64(first).u64(last);
            }
            Self::Compressed { level, ratio, mmap_len } => {
                w.u32(1).u32(1).u32(level).u32(ratio).u32(mmap_len);
            }
            Self::ClockData { clockid, wall_clock_ns, clockid_ns } => {
                w.u32(1).u32(clockid).u64(wall_clock_ns).u64(clockid_ns);
            }
            Self::EMachine { e_machine, e_flags } => {
                w.u32(e_machine).u32(e_flags);
            }
            Self::ClnSize(size) => {
                w.u32(size);
            }
            // The empty flags; the lists were written before.
            _ => {}
        }
    }

    /// Writes features with repeated parts; returns true if this is one.
    fn write_list(&self, w: &mut ByteWriter) -> bool {
        match *self {
            Self::BuildId(entries) => {
                for entry in entries {
                    w.bytes(&entry.encode(0, w.endian()));
                }
            }
            Self::Cmdline(words) => strings(w, words),
            Self::EventDesc { attr_size, events } => event_desc(w, attr_size, events),
            Self::CpuTopology { cores, threads, cpus, die_list, dies } => {
                strings(w, cores);
                strings(w, threads);
                for &(core, socket) in cpus {
                    w.u32(core).u32(socket);
                }
                if !die_list.is_empty() {
                    strings(w, die_list);
                    for &die in dies {
                        w.u32(die);
                    }
                }
            }
            Self::NumaTopology(nodes) => list(w, nodes, |w, &(node, total, free, cpus)| {
                w.u32(node).u64(total).u64(free);
                string(w, cpus);
            }),
            Self::PmuMappings(pmus) => list(w, pmus, |w, &(kind, name)| {
                w.u32(kind);
                string(w, name);
            }),
            Self::GroupDesc(groups) => list(w, groups, |w, &(name, leader, members)| {
                string(w, name);
                w.u32(leader).u32(members);
            }),
            Self::Auxtrace(areas) => auxtrace(w, areas),
            Self::Cache(levels) => {
                w.u32(1);
                list(w, levels, cache_level);
            }
            Self::MemTopology { block_size, nodes } => {
                w.u64(1).u64(block_size).u64(nodes.len() as u64);
                for &(node, size, bits) in nodes {
                    w.u64(node).u64(size).u64(bits.len() as u64 * 64).u64s(bits);
                }
            }
            Self::BpfProgInfo(programs) => list(w, programs, |w, &(arrays, info, data)| {
                w.u32(info.len() as u32).u32(data.len() as u32).u64(arrays).bytes(info).bytes(data);
            }),
            Self::BpfBtf(types) => list(w, types, |w, &(id, data)| {
                w.u32(id).u32(data.len() as u32).bytes(data);
            }),
            Self::CpuPmuCaps(pairs) | Self::HybridTopology(pairs) => list(w, pairs, pair),
            Self::PmuCaps(pmus) => list(w, pmus, |w, &(caps, name)| {
                list(w, caps, pair);
                string(w, name);
            }),
            _ => return false,
        }
        true
    }
}

/// Writes the offset and size of each AUX area.
fn auxtrace(w: &mut ByteWriter, areas: &[(u64, u64)]) {
    w.u64(areas.len() as u64);
    for &(offset, size) in areas {
        w.u64(offset).u64(size);
    }
}

/// Writes a string after its length, padded to 64 bytes and with at least one NUL.
fn string(w: &mut ByteWriter, text: &str) {
    let size = (text.len() + 1).next_multiple_of(64);
    w.u32(size as u32).fixed_str(text.as_bytes(), size);
}

fn strings(w: &mut ByteWriter, words: &[&str]) {
    list(w, words, |w, word| string(w, word));
}

fn pair(w: &mut ByteWriter, &(first, second): &(&str, &str)) {
    string(w, first);
    string(w, second);
}

/// Writes a count and the items.
fn list<T>(w: &mut ByteWriter, items: &[T], mut write: impl FnMut(&mut ByteWriter, &T)) {
    w.u32(items.len() as u32);
    for item in items {
        write(w, item);
    }
}

fn cache_level(w: &mut ByteWriter, cache: &CacheLevel<'_>) {
    w.u32(cache.level).u32(cache.line_size).u32(cache.sets).u32(cache.ways);
    string(w, cache.kind);
    string(w, cache.size);
    string(w, cache.map);
}

fn event_desc(w: &mut ByteWriter, attr_size: u32, events: &[EventDesc<'_>]) {
    w.u32(events.len() as u32).u32(attr_size);
    for event in events {
        w.fixed_str(&event.attr.encode(w.endian()), attr_size as usize).u32(event.ids.len() as u32);
        string(w, event.name);
        w.u64s(event.ids);
    }
}
