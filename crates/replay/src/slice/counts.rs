//! The counts of a slice.

use profile::StackNeeds;

use crate::slice::related::SharedMemory;

/// The counts of a slice.
#[derive(Debug, Default)]
pub(crate) struct SliceCounts {
    /// Bytes of stack that the chains need.
    pub(crate) needs: StackNeeds,
    /// Frames of all samples.
    pub(crate) n_frames: u64,
    pub(crate) undecoded: u64,
    pub(crate) late_maps: u64,
    pub(crate) shared_memory: SharedMemory,
    pub(crate) cache_hits: u64,
    pub(crate) cache_misses: u64,
    /// Frames without a module, because it has too many load addresses in its process.
    pub(crate) unplaced: u64,
    /// Requested fields that samples of their event do not have.
    pub(crate) missing_fields: u64,
    /// Samples whose stacks were not walked.
    pub(crate) dropped_stacks: u64,
}
