//! Sampled events.

use crate::encoding::encoding;
use crate::id::StringId;

/// A sampled event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    /// Name from the recorder, such as `cpu-clock` or `cycles:u`.
    pub name: StringId,
    /// Type of the event: `perf_event_attr.type`.
    pub kind: u32,
    /// Event within its type: `perf_event_attr.config`.
    pub config: u64,
    /// Whether `rate` is a frequency (samples per second) instead of a period.
    pub frequency: bool,
    /// Sampling frequency or period.
    pub rate: u64,
}

encoding! { EventRow { name: StringId, kind: u32, config: u64, frequency: bool, rate: u64, } }
