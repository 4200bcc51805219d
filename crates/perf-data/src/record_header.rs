//! What all records begin with: type, flags and size.
//!
//! Source: `include/uapi/linux/perf_event.h`, `enum perf_event_type`, `struct perf_event_header`;
//! `tools/lib/perf/include/perf/event.h`, `enum perf_user_event_type`; simpleperf's `record.h`.

use std::fmt;

/// Size in bytes of a record header.
pub(crate) const HEADER_LEN: usize = 8;

/// The type number of a record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKind(pub u32);

macro_rules! kinds {
    ($($name:ident = $number:literal;)*) => {
        impl RecordKind {
            $(#[doc = concat!("`PERF_RECORD_", stringify!($name), "`.")]
            pub const $name: Self = Self($number);)*

            /// The name of the type without its prefix; `None` for unknown numbers.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some(stringify!($name)),)*
                    _ => None,
                }
            }
        }
    };
}

kinds! {
    MMAP = 1; LOST = 2; COMM = 3; EXIT = 4; THROTTLE = 5; UNTHROTTLE = 6; FORK = 7; READ = 8; SAMPLE = 9; MMAP2 = 10;
    AUX = 11; ITRACE_START = 12; LOST_SAMPLES = 13; SWITCH = 14; SWITCH_CPU_WIDE = 15; NAMESPACES = 16; KSYMBOL = 17;
    BPF_EVENT = 18; CGROUP = 19; TEXT_POKE = 20; AUX_OUTPUT_HW_ID = 21; CALLCHAIN_DEFERRED = 22;
    HEADER_ATTR = 64; HEADER_EVENT_TYPE = 65; HEADER_TRACING_DATA = 66; HEADER_BUILD_ID = 67; FINISHED_ROUND = 68;
    ID_INDEX = 69; AUXTRACE_INFO = 70; AUXTRACE = 71; AUXTRACE_ERROR = 72; THREAD_MAP = 73; CPU_MAP = 74;
    STAT_CONFIG = 75; STAT = 76; STAT_ROUND = 77; EVENT_UPDATE = 78; TIME_CONV = 79; HEADER_FEATURE = 80;
    COMPRESSED = 81; FINISHED_INIT = 82; COMPRESSED2 = 83; BPF_METADATA = 84; SCHEDSTAT_CPU = 85;
    SCHEDSTAT_DOMAIN = 86;
    SIMPLEPERF_KERNEL_SYMBOL = 32769; SIMPLEPERF_DSO = 32770; SIMPLEPERF_SYMBOL = 32771; SIMPLEPERF_SPLIT = 32772;
    SIMPLEPERF_SPLIT_END = 32773; SIMPLEPERF_EVENT_ID = 32774; SIMPLEPERF_CALLCHAIN = 32775;
    SIMPLEPERF_UNWINDING_RESULT = 32776; SIMPLEPERF_TRACING_DATA = 32777; SIMPLEPERF_DEBUG = 32778;
}

impl RecordKind {
    /// Types from here on are made by the recording tool, not the kernel, and have no trailer.
    pub const FIRST_USER: u32 = 64;
    /// Types from here on are simpleperf's, with another header.
    pub(crate) const FIRST_SIMPLEPERF: u32 = 32768;
    const LAST_SIMPLEPERF: u32 = 32778;

    /// Whether the number is that of a known type.
    pub(crate) const fn is_known(self, simpleperf: bool) -> bool {
        matches!(self.0, 1..=22 | 64..=86)
            || simpleperf && self.0 >= Self::FIRST_SIMPLEPERF && self.0 <= Self::LAST_SIMPLEPERF
    }

    /// Whether the size may be any number: these are not padded to eight bytes by all recorders.
    pub(crate) const fn is_unpadded(self) -> bool {
        matches!(
            self,
            Self::HEADER_TRACING_DATA
                | Self::HEADER_FEATURE
                | Self::COMPRESSED
                | Self::HEADER_EVENT_TYPE
                | Self::HEADER_BUILD_ID
                | Self::CPU_MAP
                | Self::EVENT_UPDATE
        ) || self.0 >= Self::FIRST_SIMPLEPERF
    }
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "type {}", self.0),
        }
    }
}

impl fmt::Debug for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The mode the processor was in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CpuMode {
    /// Not said.
    Unknown,
    /// The host's kernel.
    Kernel,
    /// A process of the host.
    User,
    /// The hypervisor.
    Hypervisor,
    /// A guest's kernel.
    GuestKernel,
    /// A process of a guest.
    GuestUser,
}

impl CpuMode {
    /// By the lowest three bits of a record's `misc`.
    pub(crate) const fn from_misc(misc: u16) -> Self {
        match misc & 7 {
            1 => Self::Kernel,
            2 => Self::User,
            3 => Self::Hypervisor,
            4 => Self::GuestKernel,
            5 => Self::GuestUser,
            _ => Self::Unknown,
        }
    }

    /// The lowest three bits of a record's `misc`.
    #[must_use]
    pub const fn bits(self) -> u16 {
        match self {
            Self::Unknown => 0,
            Self::Kernel => 1,
            Self::User => 2,
            Self::Hypervisor => 3,
            Self::GuestKernel => 4,
            Self::GuestUser => 5,
        }
    }

    /// Returns true for the modes of a virtual machine, whose addresses say nothing of the host's kernel and processes.
    #[must_use]
    pub const fn is_guest(self) -> bool {
        matches!(self, Self::GuestKernel | Self::GuestUser)
    }
}

/// `struct perf_event_header`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordHeader {
    /// Type number.
    pub kind: RecordKind,
    /// Flags, meaning by type; the lowest three bits are the mode of the processor.
    pub misc: u16,
    /// Bytes of the record, header included. Wider than the field: simpleperf's records can be longer.
    pub size: u32,
}
