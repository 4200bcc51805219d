//! The features: bits of the bitmap in a file's header, and what `HEADER_FEATURE` records of a stream name.
//!
//! Source: `tools/perf/util/header.h`, the enum that begins with `HEADER_TRACING_DATA`; simpleperf's `record_file.h`,
//! the enum that begins with `FEAT_FILE`.

macro_rules! features {
    ($($(#[$doc:meta])* $name:ident = $bit:literal;)*) => {
        /// What a feature section is about.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        #[repr(u16)]
        pub enum Feature {
            $($(#[$doc])* $name = $bit,)*
        }

        impl Feature {
            /// The feature of that bit; `None` for those that are not known here.
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
    /// Build ids of the files that samples hit.
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
    /// The processor in words.
    CpuDescription = 8;
    /// The processor's id.
    CpuId = 9;
    /// Memory.
    TotalMemory = 10;
    /// The recorder's command line.
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
    /// Where AUX area records are.
    Auxtrace = 18;
    /// A flag: the recording is of `perf stat record`.
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
    /// How records were compressed.
    Compressed = 27;
    /// What the processor's PMU can do.
    CpuPmuCaps = 28;
    /// Wall clock against the clock of time stamps.
    ClockData = 29;
    /// PMUs of a hybrid machine.
    HybridTopology = 30;
    /// What other PMUs can do.
    PmuCaps = 31;
    /// Scheduling domains.
    CpuDomains = 32;
    /// Machine as in ELF files.
    ElfMachine = 33;
    /// Bytes of a cache line.
    CacheLine = 34;
    /// simpleperf: the files that samples hit.
    SimpleperfFile = 128;
    /// simpleperf: keys and values.
    SimpleperfMeta = 129;
    /// simpleperf: what its unwinder came upon.
    SimpleperfDebugUnwind = 130;
    /// simpleperf: files for that.
    SimpleperfDebugUnwindFile = 131;
    /// simpleperf: the files that samples hit, in its newer format.
    SimpleperfFile2 = 132;
    /// simpleperf: branches out of ETM traces.
    SimpleperfEtmBranchList = 133;
    /// simpleperf: maps of the processes that ran from the start on.
    SimpleperfInitMap = 134;
}

impl Feature {
    /// How many features the bitmap of a header has room for.
    pub(crate) const ROOM: u16 = 256;

    /// The bit in the bitmap.
    #[must_use]
    pub const fn bit(self) -> u16 {
        self as u16
    }

    /// Whether the bit says all, so that the section has no bytes.
    pub(crate) const fn is_flag(self) -> bool {
        matches!(self, Self::BranchStack | Self::Stat)
    }

    /// Whether only Android's simpleperf writes it.
    pub(crate) const fn is_simpleperf(self) -> bool {
        self.bit() >= Self::SimpleperfFile.bit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_there_and_back() {
        let known: Vec<u16> =
            (0..Feature::ROOM).filter(|&bit| Feature::of_bit(bit).is_some()).collect();
        assert_eq!(known, (1..=34).chain(128..=134).collect::<Vec<_>>());
        for bit in known {
            assert_eq!(Feature::of_bit(bit).map(Feature::bit), Some(bit));
        }
        assert_eq!(Feature::of_bit(24), Some(Feature::DirectoryFormat));
        assert_eq!(Feature::of_bit(129).map(Feature::is_simpleperf), Some(true));
        assert_eq!(Feature::of_bit(34).map(Feature::is_simpleperf), Some(false));
    }
}
