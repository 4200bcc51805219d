//! The command as a user meets it: recordings in, bytes, messages and exit status out.
//!
//! No test needs root, a network, perf or a compiler; all inputs are in `testdata`, or written here.
#![allow(
    clippy::disallowed_methods,
    reason = "tests write recordings and read what the command wrote"
)]

mod agree;
mod build_ids;
mod cases;
mod cli;
mod completeness;
mod containers;
mod debug_files;
mod device;
mod diff;
mod errors;
mod filters;
mod golden;
mod hostile;
mod hotspot;
mod hotspot_backend;
#[cfg(feature = "debuginfod")]
mod hotspot_downloads;
mod identity;
mod incomplete;
mod jit;
mod kernel;
mod layouts;
mod losses;
mod many_samples;
mod mapped;
mod memory;
mod over_time;
mod perf_text;
mod readme;
mod run;
mod signals;
mod table;
mod tables;
mod targets;
