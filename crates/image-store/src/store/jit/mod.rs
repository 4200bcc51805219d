//! The maps that processes with just-in-time compilers write of their code: `perf-PID.map`.

mod age;
mod find;
mod kept;
mod map;

pub use age::PerfMapAge;
pub use find::PerfMapFile;
pub(super) use kept::KeptPerfMaps;
pub use map::{JitSymbol, PerfMap};
