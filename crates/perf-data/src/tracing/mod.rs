//! The formats of tracepoints, by which the raw bytes of their samples are read.

mod data;
mod format;
mod sched_switch;

pub use data::TracingData;
pub use format::{TraceField, TraceFormat, TraceKind, TraceValue};
pub use sched_switch::SchedSwitch;
