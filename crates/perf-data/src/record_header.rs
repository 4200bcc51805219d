//! Header of every record: type, flags and size.
//!
//! Source: `include/uapi/linux/perf_event.h`, `struct perf_event_header`; simpleperf's `record.h`.

use std::fmt;

/// Size in bytes of a record header.
pub(crate) const HEADER_LEN: usize = 8;

/// Type number of a record. `record_types` lists the known ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKind(pub u32);

impl RecordKind {
    /// First type of the recording tool. These records have no trailer.
    pub const FIRST_USER: u32 = 64;
    /// First type of simpleperf, with another header.
    pub(crate) const FIRST_SIMPLEPERF: u32 = 32768;

    /// Returns true if `record_types` lists the number. Only simpleperf's recordings have its types.
    #[inline]
    pub(crate) const fn is_known(self, simpleperf: bool) -> bool {
        (simpleperf || self.0 < Self::FIRST_SIMPLEPERF) && self.session_use().is_some()
    }

    /// Returns true if not all recorders pad such records to eight bytes.
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

/// Mode of the processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CpuMode {
    /// Not stated.
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
    /// Decodes the lowest three bits of a record's `misc`.
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

    /// Returns the mode as the lowest three bits of a record's `misc`.
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

    /// Returns true for the modes of a virtual machine, with addresses unrelated to the host's kernel and processes.
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
    /// Flags that depend on the type; the lowest three bits are the mode of the processor.
    pub misc: u16,
    /// Size of the record in bytes, including the header. Wider than the
    /// field, because simpleperf's records can be longer.
    pub size: u32,
}
