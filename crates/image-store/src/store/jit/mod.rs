//! Files of JIT compilers: maps that processes write of their code (`perf-PID.map`), and dumps
//! that they mark on the timeline (`jit-PID.dump`).

mod age;
mod dump_reader;
mod find;
mod kept;

pub use age::PerfMapAge;
pub use dump_reader::DumpReader;
pub use find::PerfMapFile;
pub(super) use kept::KeptPerfMaps;
