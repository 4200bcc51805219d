//! Formats of tracepoints, used to decode the raw bytes of their samples.

mod data;
mod fields;
mod format;
mod sched_switch;

pub use data::TracingData;
pub use fields::{FieldColumn, FieldKind, SelectedFields};
pub use format::{TraceField, TraceFormat, TraceKind, TraceValue};
pub use sched_switch::SchedSwitch;
