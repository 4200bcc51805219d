//! The one value that every printer prints: tables of distinct things, and the samples as rows of indexes into them.
//!
//! ```text
//!   sample -> stack node -> frame -> location -> inline chain (function, file, line)
//!      |                      |         '-> module (path, build-id)
//!      |                      '-> found_by, kernel
//!      '-> layout: the bias of each module in that process, so that
//!          addr = location.relative + bias(layout, location.module, frame.instance)
//! ```

use crate::reason::{EndReason, FoundBy};
use crate::summary::Summary;
use crate::tables::{StringId, Strings};
use address::{BuildId, ModuleId, Pid, Tid, Timestamp};

/// A recording, unwound and symbolized.
#[derive(Debug, Default)]
pub struct Profile {
    /// Where and how the recording was made.
    pub recording: RecordingInfo,
    /// Every string of the other tables.
    pub strings: Strings,
    /// The events that were sampled, in the order of the recording's attributes.
    pub events: Vec<EventRow>,
    /// What was mapped; a frame's location names one.
    pub modules: Vec<ModuleRow>,
    /// The inline frames of all locations; a location owns a range of it.
    pub inlines: Vec<InlineRow>,
    /// Distinct looked-up addresses.
    pub locations: Vec<LocationRow>,
    /// Distinct frames: a location and how it was found.
    pub frames: Vec<FrameRow>,
    /// The prefix tree of stacks. A parent comes before its children.
    pub stacks: Vec<StackRow>,
    /// Where the modules lay, a row for each process image (and for each change of one that matters).
    pub layouts: Vec<LayoutRow>,
    /// Threads that have samples, with the name they had: a thread that changed its name has several rows.
    pub threads: Vec<ThreadRow>,
    /// The samples in time order.
    pub samples: Vec<SampleRow>,
    /// The account of the run.
    pub summary: Summary,
}

impl Profile {
    /// How many samples ended for each reason, in the order of [`EndReason::ALL`].
    #[must_use]
    pub fn end_counts(&self) -> [u64; EndReason::ALL.len()] {
        let mut counts = [0; EndReason::ALL.len()];
        for sample in &self.samples {
            counts[sample.end as usize] += 1;
        }
        counts
    }
}

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
    /// The recorder's command line.
    pub command_line: Vec<StringId>,
}

/// A sampled event.
#[derive(Debug, Clone)]
pub struct EventRow {
    /// Its name as the recorder gave it, such as `cpu-clock` or `cycles:u`.
    pub name: StringId,
    /// What kind of event it is, `perf_event_attr.type`.
    pub kind: u32,
    /// Which of that kind, `perf_event_attr.config`.
    pub config: u64,
    /// Whether `rate` is a frequency (samples a second) and not a period.
    pub frequency: bool,
    /// How often it was sampled.
    pub rate: u64,
}

/// What kind of thing a module is; decides how its addresses are stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModuleKind {
    /// An ELF file that was opened: `relative` of its locations is the address that the file states (svma).
    Elf,
    /// A file that was not opened or is no ELF file: `relative` is the offset in the file.
    File,
    /// Memory without a file (`//anon`, `[heap]`, JIT): `relative` is the address in the process.
    Anonymous,
    /// The kernel or one of its modules: `relative` is the address in the kernel.
    Kernel,
}

impl ModuleKind {
    /// Every kind, in the order of their numbers.
    pub const ALL: &[Self] = &[Self::Elf, Self::File, Self::Anonymous, Self::Kernel];

    /// The word in output formats. These are interface: they do not change.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Elf => "elf",
            Self::File => "file",
            Self::Anonymous => "anonymous",
            Self::Kernel => "kernel",
        }
    }
}

/// Something that was mapped.
#[derive(Debug, Clone)]
pub struct ModuleRow {
    /// The path as recorded, or a name in brackets.
    pub path: StringId,
    /// The file that was really opened for it, if any.
    pub opened: Option<StringId>,
    /// The recorded build-id; without one, that of the opened file.
    pub build_id: Option<BuildId>,
    /// What it is.
    pub kind: ModuleKind,
}

/// One function at a location: the innermost is the deepest inlined one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InlineRow {
    /// Demangled name.
    pub function: Option<StringId>,
    /// Source file.
    pub file: Option<StringId>,
    /// Line in it, from 1; 0 where unknown.
    pub line: u32,
    /// Column in it, from 1; 0 where unknown.
    pub column: u32,
    /// Whether this function was inlined into the next row of the same location.
    pub inlined: bool,
}

/// A distinct looked-up address of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocationRow {
    /// The module; `None` where nothing was mapped: then `relative` is the address in the process.
    pub module: Option<ModuleId>,
    /// The address in the space that the module's kind tells. For callers: return address - 1.
    pub relative: u64,
    /// The offset in the module's file, where it has one.
    pub offset: Option<u64>,
    /// How far behind the start of the outermost function (the one that is not inlined) the address is, where that
    /// start is known.
    pub function_offset: Option<u64>,
    /// First row of `Profile::inlines`; innermost function first, the one that is not inlined last.
    pub first_inline: u32,
    /// Number of rows; 0 where nothing is known about the address.
    pub n_inlines: u32,
}

/// A distinct frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FrameRow {
    /// Index of `Profile::locations`.
    pub location: u32,
    /// How it was found.
    pub found_by: FoundBy,
    /// Whether it ran in kernel mode.
    pub kernel: bool,
    /// Which of several images of the same module in one process; nearly always 0.
    pub instance: u8,
}

/// A node of the prefix tree of stacks: a frame and the frame that called it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StackRow {
    /// The caller's node, an index of `Profile::stacks` below this one; `u32::MAX` for the outermost frame.
    pub parent: u32,
    /// Index of `Profile::frames`.
    pub frame: u32,
}

/// No stack node: the parent of an outermost frame, the stack of a sample without any frame.
pub const NO_STACK: u32 = u32::MAX;

/// Where the modules of a process image lay, as far as its samples show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LayoutRow {
    /// Module, which of several images of it, and what to add (wrapping) to `LocationRow::relative`; sorted by the
    /// first two. A module that is not listed has 0.
    pub biases: Vec<(ModuleId, u8, u64)>,
}

/// A thread under one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreadRow {
    /// Process id; -1 for a task that had already exited.
    pub pid: Pid,
    /// Thread id.
    pub tid: Tid,
    /// Its name (`comm`) at the time.
    pub comm: StringId,
}

/// One sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleRow {
    /// When, on the recording's clock; `None` where it was not recorded.
    pub time: Option<Timestamp>,
    /// Index of `Profile::threads`.
    pub thread: u32,
    /// Index of `Profile::events`.
    pub event: u16,
    /// Why the chain ended.
    pub end: EndReason,
    /// On which processor; `None` where it was not recorded.
    pub cpu: Option<u32>,
    /// The weight of the sample in units of its event; `None` where it was not recorded (then it counts 1).
    pub period: Option<u64>,
    /// The innermost frame's node of `Profile::stacks`, or [`NO_STACK`].
    pub stack: u32,
    /// Index of `Profile::layouts`.
    pub layout: u32,
}
