//! What was sampled.

use crate::id::StringId;

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
