//! Names of code that a just-in-time compiler made: the map that its process wrote.

mod age;
mod find;
mod perf_map;

pub use age::PerfMapAge;
pub use find::read_perf_map;
pub use perf_map::{JitSymbol, PerfMap};
