//! Formats of tracepoints, used to decode the raw bytes of their samples and to print them.

mod data;
mod format;
mod print;
mod printk;
mod sched_switch;

pub use data::TracingData;
pub use format::{TraceField, TraceFormat, TraceKind, TraceValue};
pub use print::{KernelAddress, PrintFormat, with_symbols};
pub use sched_switch::SchedSwitch;
