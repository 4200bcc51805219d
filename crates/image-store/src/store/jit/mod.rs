//! Files of JIT compilers: maps that processes write of their code (`perf-PID.map`), and dumps
//! that they mark on the timeline (`jit-PID.dump`).

mod age;
mod dump_reader;
mod perf_map_cache;
mod perf_map_file;

pub use age::PerfMapAge;
pub use dump_reader::DumpReader;
pub(super) use perf_map_cache::PerfMapCache;
pub use perf_map_file::PerfMapFile;
