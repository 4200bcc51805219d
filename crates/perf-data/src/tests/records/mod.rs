//! Records by kind: of the kernel, of the recording tool, samples, tracepoints; and their events.

mod identity;
mod kernel;
mod samples;
mod tracing;
mod user;
