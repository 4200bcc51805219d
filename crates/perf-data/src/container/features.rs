//! Feature sections after the data: all information about the recording except events. They are not needed to read
//! records, so a section that cannot be parsed is dropped with a finding.
//!
//! Source: `tools/perf/util/header.c`, `perf_header__process_sections`; bit numbers of `tools/perf/util/header.h`.

use std::ops::Range;

use address::Timestamp;

use super::feature::Feature;
use super::feature_decode as decode;
use super::feature_types::{
    AuxtraceIndex, BpfProgram, Btf, CacheLevel, ClockData, CompressedInfo, CpuCount, CpuDomain,
    CpuTopology, EventDesc, GroupDesc, HybridNode, MachineCode, MemoryTopology, NumaNode, PmuCaps,
    PmuMapping,
};
use super::header::FileHeader;
use super::simpleperf_files::{SimpleperfFile, read_files, read_files2};
use crate::bytes::{Endian, FieldReader};
use crate::finding::{Finding, Findings};
use crate::record::{BuildIdEntry, read_build_ids};

/// All features of a recording. Missing ones are `None`, empty or false.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Features<'d> {
    /// Formats of tracepoints, undecoded.
    pub tracing_data: Option<&'d [u8]>,
    /// Build-ids of the files hit by samples.
    pub build_ids: Vec<BuildIdEntry<'d>>,
    /// Name of the host.
    pub hostname: Option<&'d [u8]>,
    /// `uname -r`.
    pub os_release: Option<&'d [u8]>,
    /// Version of the recorder.
    pub version: Option<&'d [u8]>,
    /// `uname -m`.
    pub arch: Option<&'d [u8]>,
    /// Number of processors.
    pub cpu_count: Option<CpuCount>,
    /// Description of the processor.
    pub cpu_description: Option<&'d [u8]>,
    /// Id of the processor.
    pub cpu_id: Option<&'d [u8]>,
    /// Memory in KiB.
    pub total_memory_kib: Option<u64>,
    /// Command line of the recorder.
    pub command_line: Vec<&'d [u8]>,
    /// Events with their names.
    pub event_descs: Vec<EventDesc<'d>>,
    /// Cores, threads, dies.
    pub cpu_topology: Option<CpuTopology<'d>>,
    /// NUMA nodes.
    pub numa_nodes: Vec<NumaNode<'d>>,
    /// True if samples carry branch stacks.
    pub branch_stack: bool,
    /// True for `perf stat record`.
    pub stat: bool,
    /// Ids of PMUs.
    pub pmu_mappings: Vec<PmuMapping<'d>>,
    /// Event groups.
    pub groups: Vec<GroupDesc<'d>>,
    /// Offsets of AUX area records.
    pub auxtrace_index: Vec<AuxtraceIndex>,
    /// Processor caches.
    pub caches: Vec<CacheLevel<'d>>,
    /// Time of the first and the last sample. `None` if the recorder did not determine them and
    /// wrote zeros, as with compressed records.
    ///
    /// Source: `write_sample_time` in `tools/perf/util/header.c`.
    pub sample_time: Option<(Timestamp, Timestamp)>,
    /// Memory blocks by node.
    pub memory_topology: Option<MemoryTopology<'d>>,
    /// Resolution of the clock in nanoseconds.
    pub clock_resolution_ns: Option<u64>,
    /// Version of the directory format; 1 if samples are in sibling files.
    pub directory_version: Option<u64>,
    /// BPF programs.
    pub bpf_programs: Vec<BpfProgram<'d>>,
    /// BPF types.
    pub btf: Vec<Btf<'d>>,
    /// Compression of the records.
    pub compressed: Option<CompressedInfo>,
    /// Capabilities of the processor's PMU.
    pub cpu_pmu_caps: Vec<(&'d [u8], &'d [u8])>,
    /// Wall clock time of a time stamp.
    pub clock_data: Option<ClockData>,
    /// PMUs of a hybrid machine.
    pub hybrid_nodes: Vec<HybridNode<'d>>,
    /// Capabilities of other PMUs.
    pub pmu_caps: Vec<PmuCaps<'d>>,
    /// Scheduling domains.
    pub cpu_domains: Vec<CpuDomain<'d>>,
    /// Machine code, as in ELF files.
    pub machine_code: Option<MachineCode>,
    /// Size of a cache line, in bytes.
    pub cache_line: Option<u32>,
    /// Keys and values of simpleperf.
    pub simpleperf_meta: Vec<(&'d [u8], &'d [u8])>,
    /// Files hit by the samples of a simpleperf recording, with their symbols.
    pub simpleperf_files: Vec<SimpleperfFile<'d>>,
    /// Number of unknown features.
    pub unknown: u32,
    sections: Vec<(u16, &'d [u8])>,
}

/// Returns the sections of a file, from the table after its data.
pub(crate) fn feature_sections(
    bytes: &[u8],
    container: &FileHeader,
    findings: &mut Findings,
) -> Vec<(u16, Range<usize>)> {
    let set = (0..Feature::BITMAP_BITS)
        .filter(|&bit| container.features[usize::from(bit / 64)] >> (bit % 64) & 1 == 1);
    let table = usize::try_from(container.feature_table)
        .ok()
        .and_then(|at| bytes.get(at..))
        .unwrap_or_default();
    let mut table = FieldReader::new(table, container.endian);
    let mut sections = Vec::new();
    for bit in set {
        let mut entry = || Some((table.u64()?, table.u64()?));
        let (offset, size) = entry().unwrap_or((container.feature_table, u64::MAX));
        let range = || {
            let start = usize::try_from(offset).ok()?;
            let end = start.checked_add(usize::try_from(size).ok()?)?;
            (end <= bytes.len()).then_some(start..end)
        };
        match range() {
            Some(range) => sections.push((bit, range)),
            None => {
                let size = if size == u64::MAX { 0 } else { size };
                findings.push(Finding::FeatureIgnored { feature: bit, offset, size });
            }
        }
    }
    sections
}

impl<'d> Features<'d> {
    /// Decodes sections in ascending order of their bits; calls `ignored` with the bits of unparsable ones.
    pub(crate) fn decode_all(
        sections: impl Iterator<Item = (u16, &'d [u8])>,
        endian: Endian,
        ignored: &mut dyn FnMut(u16),
    ) -> Self {
        let mut features = Self::default();
        for (bit, section) in sections {
            features.sections.push((bit, section));
            if features.decode(bit, section, endian).is_none() {
                ignored(bit);
            }
        }
        features
    }

    /// Returns the bytes of a feature by its bit, see [`Feature::bit`]; also for unknown features.
    #[must_use]
    pub fn section(&self, bit: u16) -> Option<&'d [u8]> {
        self.sections.iter().find(|entry| entry.0 == bit).map(|entry| entry.1)
    }

    /// Returns the bits of all recorded features, ascending.
    pub fn bits(&self) -> impl Iterator<Item = u16> {
        self.sections.iter().map(|entry| entry.0)
    }

    /// Returns true if the recording was made by Android's simpleperf.
    #[must_use]
    pub fn is_simpleperf(&self) -> bool {
        let recorder = self.command_line.first().copied().unwrap_or_default();
        self.bits().filter_map(Feature::of_bit).any(Feature::is_simpleperf)
            || recorder.ends_with(b"simpleperf")
    }

    /// Decodes a section; `None` if it cannot be parsed.
    pub(crate) fn decode(&mut self, bit: u16, section: &'d [u8], endian: Endian) -> Option<()> {
        let Some(feature) = Feature::of_bit(bit) else {
            self.unknown += 1;
            return Some(());
        };
        let cursor = &mut FieldReader::new(section, endian);
        match feature {
            Feature::TracingData => self.tracing_data = Some(section),
            Feature::BuildId => self.build_ids = read_build_ids(section, endian),
            Feature::Hostname => self.hostname = Some(cursor.string()?),
            Feature::OsRelease => self.os_release = Some(cursor.string()?),
            Feature::Version => self.version = Some(cursor.string()?),
            Feature::Arch => self.arch = Some(cursor.string()?),
            Feature::CpuCount => self.cpu_count = Some(decode::cpu_count(cursor)?),
            Feature::CpuDescription => self.cpu_description = Some(cursor.string()?),
            Feature::CpuId => self.cpu_id = Some(cursor.string()?),
            Feature::TotalMemory => self.total_memory_kib = Some(cursor.u64()?),
            Feature::CommandLine => self.command_line = decode::strings(cursor)?,
            Feature::EventDesc => self.event_descs = decode::event_descs(cursor)?,
            Feature::CpuTopology => {
                self.cpu_topology = Some(decode::cpu_topology(cursor, self.cpu_count)?);
            }
            Feature::NumaTopology => self.numa_nodes = decode::numa_nodes(cursor)?,
            Feature::BranchStack => self.branch_stack = true,
            Feature::PmuMappings => self.pmu_mappings = decode::pmu_mappings(cursor)?,
            Feature::GroupDesc => self.groups = decode::groups(cursor)?,
            Feature::Auxtrace => self.auxtrace_index = decode::auxtrace_index(cursor)?,
            Feature::Stat => self.stat = true,
            Feature::Cache => self.caches = decode::caches(cursor)?,
            Feature::SampleTime => {
                self.sample_time = Some(decode::sample_time(cursor)?).filter(|it| it.1.0 > 0);
            }
            later => self.decode_later(later, cursor)?,
        }
        Some(())
    }

    /// Decodes features from 2018 on, and simpleperf's.
    fn decode_later(&mut self, feature: Feature, cursor: &mut FieldReader<'d>) -> Option<()> {
        match feature {
            Feature::MemoryTopology => {
                self.memory_topology = Some(decode::memory_topology(cursor)?);
            }
            Feature::ClockId => self.clock_resolution_ns = Some(cursor.u64()?),
            Feature::DirectoryFormat => self.directory_version = Some(cursor.u64()?),
            Feature::BpfPrograms => self.bpf_programs = decode::bpf_programs(cursor)?,
            Feature::BpfTypes => self.btf = decode::btf(cursor)?,
            Feature::Compressed => self.compressed = Some(decode::compressed(cursor)?),
            Feature::CpuPmuCaps => self.cpu_pmu_caps = decode::string_pairs(cursor)?,
            Feature::ClockData => self.clock_data = Some(decode::clock_data(cursor)?),
            Feature::HybridTopology => self.hybrid_nodes = decode::hybrid_nodes(cursor)?,
            Feature::PmuCaps => self.pmu_caps = decode::pmu_caps(cursor)?,
            Feature::CpuDomains => self.cpu_domains = decode::cpu_domains(cursor)?,
            Feature::ElfMachine => self.machine_code = Some(decode::machine_code(cursor)?),
            Feature::CacheLine => self.cache_line = Some(cursor.u32()?),
            Feature::SimpleperfFile => self.simpleperf_files = read_files(cursor),
            Feature::SimpleperfFile2 => self.simpleperf_files = read_files2(cursor),
            Feature::SimpleperfMeta => self.simpleperf_meta = decode::meta_info(cursor.rest()),
            // Other features of simpleperf concern its operation, not the recording.
            _ => {}
        }
        Some(())
    }
}
