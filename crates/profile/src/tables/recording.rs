//! What the header of a recording says of the machine and of the recorder.

use crate::id::StringId;

/// Facts of the recording's header. Absent ones are `None`.
#[derive(Debug, Default, Clone)]
pub struct RecordingInfo {
    /// Name of the recorded machine.
    pub hostname: Option<StringId>,
    /// Kernel release.
    pub os_release: Option<StringId>,
    /// `uname -m`.
    pub arch: Option<StringId>,
    /// Version of the recorder.
    pub perf_version: Option<StringId>,
    /// Processor name.
    pub cpu_desc: Option<StringId>,
    /// Processors online when recorded.
    pub cpus_online: Option<u32>,
    /// Processors there are, online or not.
    pub cpus_available: Option<u32>,
    /// The processor's identification.
    pub cpu_id: Option<StringId>,
    /// Memory in KiB.
    pub total_memory_kib: Option<u64>,
    /// How many bytes of each sample's stack the recorder copied at most; `None` where it copied none.
    pub stack_bytes: Option<u32>,
    /// The recorder's command line.
    pub command_line: Vec<StringId>,
}
