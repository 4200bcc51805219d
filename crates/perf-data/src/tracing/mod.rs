//! The formats of tracepoints, by which the raw bytes of their samples are read.

mod data;
mod format;

pub use data::TracingData;
pub use format::{TraceField, TraceFormat, TraceKind, TraceValue};
