//! The same work under the names and with the options of other programs.

mod hotspot_perfparser;
mod perf_to_profile;

pub(crate) use hotspot_perfparser::main as hotspot_perfparser;
pub(crate) use perf_to_profile::main as perf_to_profile;
