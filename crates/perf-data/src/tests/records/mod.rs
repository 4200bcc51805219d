//! Records, one kind a file: those of the kernel, those of the recording tool, samples, tracepoints; and their events.

mod identity;
mod kernel;
mod samples;
mod tracing;
mod user;
