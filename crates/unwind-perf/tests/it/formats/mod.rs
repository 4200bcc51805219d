//! Contents of the output formats, and their agreement.

mod agree;
mod arrow;
mod branches;
mod fields;
mod golden;
pub(crate) mod hotspot;
mod hotspot_backend;
#[cfg(feature = "debuginfod")]
mod hotspot_downloads;
pub(crate) mod labels;
mod memory;
pub(crate) mod perf_text;
mod spans;
mod table;
mod trace_text;
mod variables;
