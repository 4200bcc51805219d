//! Records by kind: of the kernel, of the recording tool, samples, tracepoints and their texts; and their events.

mod identity;
mod kernel;
mod print_format;
mod samples;
mod tracing;
mod user;
