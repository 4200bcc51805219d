//! Processes over time: records of maps, forks, execs and exits determine the address space of each process.
//! Hints, JIT dumps and inference add to it.

mod cgroups;
mod comms;
mod event;
mod file_history;
mod hints;
mod inference;
mod inherited_code;
mod jit_code;
mod journal;
mod kernel_map;
mod map_cache;
mod mapping;
mod processes;
mod relatives;
mod renewal;
mod timeline;
mod waiting;

pub use cgroups::CgroupId;
pub use comms::CommId;
pub use event::{MapEvent, RecordedName};
pub use file_history::FilesOfPaths;
pub use inference::Inference;
pub use kernel_map::Guest;
pub use options::{Hint, HintError, HintScope};
pub use processes::ProcessImage;
pub use relatives::RelatedSpace;
pub use timeline::{CurrentProcess, Timeline};
pub use waiting::{CachedMap, CachedNames, LazySpace};
