//! Samples with the inputs of their walks.

use module_map::{ProcessImage, RelatedSpace};
use perf_data::SampleEntry;

use crate::join::StackOwner;
use crate::plan::history::labels::ThreadLabels;
use crate::plan::spaces::{LaterSpace, Spaces};

/// A sample with the inputs of its walk.
#[derive(Debug)]
pub(crate) struct PlannedSample {
    pub(crate) entry: SampleEntry,
    /// Indexes of its spaces in [`Plan::spaces`].
    pub(crate) space: u32,
    pub(crate) kernel: u32,
    pub(crate) process_image: ProcessImage,
    /// The process's space after records that shortly follow the sample.
    pub(crate) later: Option<LaterSpace>,
    /// Spaces of processes that may share the memory, with code mapped only there.
    pub(crate) related: Vec<RelatedSpace>,
    pub(crate) thread: u32,
    /// Owner of the stack.
    pub(crate) owner: StackOwner,
    /// Labels of the thread, if any were requested.
    pub(crate) labels: Option<ThreadLabels>,
}

/// A chunk of samples, and the spaces that they need.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) samples: Vec<PlannedSample>,
    pub(crate) spaces: Spaces,
}
