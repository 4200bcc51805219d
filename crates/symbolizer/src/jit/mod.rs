//! Names of code that a just-in-time compiler made.

mod perf_map;

pub use perf_map::{JitSymbol, PerfMap};
