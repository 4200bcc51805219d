//! The one value that every printer prints: tables of distinct things, and the samples as rows of ids into them.
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
    EventRow, FrameRow, InlineRow, LayoutRow, LocationRow, ModuleRow, RecordingInfo, SampleRow,
    StackRow, Strings, Table, ThreadRow,
};

/// A recording, unwound and symbolized.
#[derive(Debug, Default)]
pub struct Profile {
    /// Where and how the recording was made.
    pub recording: RecordingInfo,
    /// Every string of the other tables.
    pub strings: Strings,
    /// The events that were sampled, in the order of the recording's attributes.
    pub events: Table<EventId, EventRow>,
    /// The event whose samples are no recorded ones but stand for times off the processor: each is at the time at which
    /// its thread left, with the stack of the sample that shows where, and its period is how long, in nanoseconds.
    pub off_cpu: Option<EventId>,
    /// What was mapped; a frame's location names one.
    pub modules: Table<ModuleId, ModuleRow>,
    /// The inline frames of all locations; a location owns a range of it.
    pub inlines: Table<InlineId, InlineRow>,
    /// Distinct looked-up addresses.
    pub locations: Table<LocationId, LocationRow>,
    /// Distinct frames: a location and how it was found.
    pub frames: Table<FrameId, FrameRow>,
    /// The prefix tree of stacks. A parent comes before its children.
    pub stacks: Table<StackId, StackRow>,
    /// Where the modules lay, a row for each process image (and for each change of one that matters).
    pub layouts: Table<LayoutId, LayoutRow>,
    /// Threads that have samples, with the name they had: a thread that changed its name or its control group
    /// has several rows.
    pub threads: Table<ThreadId, ThreadRow>,
    /// The samples in time order.
    pub samples: Table<SampleId, SampleRow>,
    /// What the run says about itself.
    pub summary: Summary,
}

impl Profile {
    /// What the tables take that grow with a recording, in bytes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.strings.heap_bytes()
            + self.inlines.heap_bytes()
            + self.locations.heap_bytes()
            + self.frames.heap_bytes()
            + self.stacks.heap_bytes()
            + self.samples.heap_bytes()
    }

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
