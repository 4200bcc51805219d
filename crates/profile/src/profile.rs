//! The input of every printer: tables of distinct things, and samples as rows of ids into them.
//!
//! ```text
//!   sample -> stack node -> frame -> location -> inline chain (function, file, line)
//!      |                      |         '-> module (path, build-id)
//!      |                      '-> found_by, kernel
//!      '-> layout: the bias of each module in that process, so that
//!          addr = location.relative + bias(layout, location.module, frame.instance)
//! ```

use address::ModuleId;

use crate::id::{EventId, FrameId, InlineId, LayoutId, LocationId, SampleId, StackId, ThreadId};
use crate::quality::Summary;
use crate::reason::EndReason;
use crate::tables::{
    EventRow, FieldTable, FrameRow, InlineRow, LayoutRow, LocationRow, ModuleRow, RecordingInfo,
    SampleRow, StackRow, Strings, Table, ThreadRow,
};

/// A recording, unwound and symbolized.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profile {
    /// Facts of the recording and its host.
    pub recording: RecordingInfo,
    /// Every string of the other tables.
    pub strings: Strings,
    /// The sampled events, in the order of the recording's attributes.
    pub events: Table<EventId, EventRow>,
    /// The event for off-CPU times; its samples were not recorded but derived.
    /// Each has the time at which its thread was scheduled out, and the stack of the sample that shows the wait.
    /// Its period is the duration in nanoseconds.
    pub off_cpu: Option<EventId>,
    /// True if the user did not ask for off-CPU times. Counts of the run then contain none of them.
    pub off_cpu_is_extra: bool,
    /// Mapped modules; locations refer to them.
    pub modules: Table<ModuleId, ModuleRow>,
    /// Functions at all locations; each location owns a range of rows.
    pub inlines: Table<InlineId, InlineRow>,
    /// Distinct looked-up addresses.
    pub locations: Table<LocationId, LocationRow>,
    /// Distinct frames: a location and the evidence for the frame.
    pub frames: Table<FrameId, FrameRow>,
    /// The prefix tree of stacks. A parent precedes its children.
    pub stacks: Table<StackId, StackRow>,
    /// Load addresses of the modules: a row for each process image, and for each relevant change of one.
    pub layouts: Table<LayoutId, LayoutRow>,
    /// Threads with samples. A thread that changed its name or its control group has several rows.
    pub threads: Table<ThreadId, ThreadRow>,
    /// The samples, in time order.
    pub samples: Table<SampleId, SampleRow>,
    /// Values of the samples, if fields were requested.
    pub fields: FieldTable,
    /// Quality of the run: counters, losses, findings.
    pub summary: Summary,
}

impl Profile {
    /// Memory of the tables that grow with a recording, in bytes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.strings.heap_bytes()
            + self.inlines.heap_bytes()
            + self.locations.heap_bytes()
            + self.frames.heap_bytes()
            + self.stacks.heap_bytes()
            + self.samples.heap_bytes()
            + self.fields.heap_bytes()
    }

    /// Returns the samples that counts of the run contain: all, without off-CPU times that the user did not ask for.
    pub fn counted_samples(&self) -> impl Iterator<Item = &SampleRow> {
        let extra = self.off_cpu.filter(|_| self.off_cpu_is_extra);
        self.samples.iter().filter(move |sample| Some(sample.event) != extra)
    }

    /// Returns the number of samples for each end reason, in the order of [`EndReason::ALL`].
    #[must_use]
    pub fn end_counts(&self) -> [u64; EndReason::ALL.len()] {
        let mut counts = [0; EndReason::ALL.len()];
        for sample in self.counted_samples() {
            counts[sample.end as usize] += 1;
        }
        counts
    }
}
