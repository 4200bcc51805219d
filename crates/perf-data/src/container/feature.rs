//! Features: bits of the bitmap in the header of a file, and the subjects of a stream's `HEADER_FEATURE` records.
//!
//! Source: `tools/perf/util/header.h`, the enum that begins with `HEADER_TRACING_DATA`; simpleperf's `record_file.h`,
//! the enum that begins with `FEAT_FILE`.

macro_rules! features {
    ($($(#[$doc:meta])* $name:ident = $bit:literal;)*) => {
        /// Subject of a feature section.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        #[repr(u16)]
        pub enum Feature {
            $($(#[$doc])* $name = $bit,)*
        }

        impl Feature {
            /// Returns the feature of a bit; `None` if it is unknown.
            #[must_use]
            pub const fn of_bit(bit: u16) -> Option<Self> {
                match bit {
                    $($bit => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

features! {
    /// Formats of tracepoints.
    TracingData = 1;
    /// Build-ids of the files hit by samples.
    BuildId = 2;
    /// Name of the host.
    Hostname = 3;
    /// `uname -r`.
    OsRelease = 4;
    /// Version of the recorder.
    Version = 5;
    /// `uname -m`.
    Arch = 6;
    /// Number of processors.
    CpuCount = 7;
    /// Description of the processor.
    CpuDescription = 8;
    /// Id of the processor.
    CpuId = 9;
    /// Total memory.
    TotalMemory = 10;
    /// Command line of the recorder.
    CommandLine = 11;
    /// Events with their names.
    EventDesc = 12;
    /// Cores, threads, dies.
    CpuTopology = 13;
    /// NUMA nodes.
    NumaTopology = 14;
    /// A flag: samples carry branch stacks.
    BranchStack = 15;
    /// Ids of PMUs.
    PmuMappings = 16;
    /// Event groups.
    GroupDesc = 17;
    /// Offsets of AUX area records.
    Auxtrace = 18;
    /// A flag: the recording was made by `perf stat record`.
    Stat = 19;
    /// Processor caches.
    Cache = 20;
    /// Time of the first and the last sample.
    SampleTime = 21;
    /// Memory blocks by node.
    MemoryTopology = 22;
    /// Resolution of the clock.
    ClockId = 23;
    /// Version of the directory format.
    DirectoryFormat = 24;
    /// BPF programs.
    BpfPrograms = 25;
    /// BPF types.
    BpfTypes = 26;
    /// Compression of the records.
    Compressed = 27;
    /// Capabilities of the processor's PMU.
    CpuPmuCaps = 28;
    /// Wall clock time of a time stamp.
    ClockData = 29;
    /// PMUs of a hybrid machine.
    HybridTopology = 30;
    /// Capabilities of other PMUs.
    PmuCaps = 31;
    /// Scheduling domains.
    CpuDomains = 32;
    /// Machine code, as in ELF files.
    ElfMachine = 33;
    /// Size of a cache line.
    CacheLine = 34;
    /// simpleperf: files hit by samples.
    SimpleperfFile = 128;
    /// simpleperf: keys and values.
    SimpleperfMeta = 129;
    /// simpleperf: diagnostics of its unwinder.
    SimpleperfDebugUnwind = 130;
    /// simpleperf: files for these diagnostics.
    SimpleperfDebugUnwindFile = 131;
    /// simpleperf: files hit by samples, in the newer format.
    SimpleperfFile2 = 132;
    /// simpleperf: branches from ETM traces.
    SimpleperfEtmBranchList = 133;
    /// simpleperf: maps of the processes that existed at the start.
    SimpleperfInitMap = 134;
    /// Ours: evidence for callchains that were unwound when the recording was written.
    ChainEvidence = 250;
}

impl Feature {
    /// Number of bits in the bitmap of a header.
    pub(crate) const BITMAP_BITS: u16 = 256;

    /// Bit in the bitmap.
    #[must_use]
    pub const fn bit(self) -> u16 {
        self as u16
    }

    /// Returns true if the feature has no content except its bit.
    pub(crate) const fn is_flag(self) -> bool {
        matches!(self, Self::BranchStack | Self::Stat)
    }

    /// Returns true if only Android's simpleperf writes it.
    pub(crate) const fn is_simpleperf(self) -> bool {
        self.bit() >= Self::SimpleperfFile.bit() && self.bit() <= Self::SimpleperfInitMap.bit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_there_and_back() {
        let known: Vec<u16> =
            (0..Feature::BITMAP_BITS).filter(|&bit| Feature::of_bit(bit).is_some()).collect();
        assert_eq!(known, (1..=34).chain(128..=134).chain([250]).collect::<Vec<_>>());
        for bit in known {
            assert_eq!(Feature::of_bit(bit).map(Feature::bit), Some(bit));
        }
        assert_eq!(Feature::of_bit(24), Some(Feature::DirectoryFormat));
        assert_eq!(Feature::of_bit(129).map(Feature::is_simpleperf), Some(true));
        assert_eq!(Feature::of_bit(34).map(Feature::is_simpleperf), Some(false));
    }
}
