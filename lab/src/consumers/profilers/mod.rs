//! Programs that show profiles: hotspot, the Firefox Profiler, speedscope, `callgrind_annotate`, pprof, flame graphs.

pub(super) mod callgrind;
pub(super) mod firefox;
pub(super) mod hotspot;
pub(super) mod perf_text;
pub(super) mod pprof;
pub(super) mod speedscope;
mod stock;
