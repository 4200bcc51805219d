//! Formats of tracepoints, used to decode the raw bytes of their samples.

mod data;
mod format;
mod sched_switch;

pub use data::TracingData;
pub use format::{TraceField, TraceFormat, TraceKind, TraceValue};
pub use sched_switch::SchedSwitch;
