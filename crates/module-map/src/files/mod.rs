//! Which file of this machine a module is: candidates by name and by build-id, opened once, and checked against what
//! was recorded; with the separate debug files that belong to it.

mod archive;
mod by_content;
mod by_id;
mod candidates;
mod debug;
mod extra;
mod fetch;
mod findings;
mod identity;
mod kernel_files;
mod loaded;
mod options;
mod outcomes;
mod perf_map;
mod shared;
mod store;
mod vdso;

pub use archive::Archive;
pub use extra::ExtraFiles;
pub use fetch::{Fetch, FetchKind, Fetcher};
pub use findings::{FileFinding, FileFindingKind, MovedText};
pub use identity::{Difference, FileProof, LoadError};
pub use loaded::LoadedImage;
pub use options::{DEBUG_DIR, FileOptions, RECORDED_COPIES};
pub use perf_map::{JitSymbol, PerfMap, PerfMapAge, PerfMapFile};
pub use shared::{ImageLimits, SharedImages};
pub use store::ImageStore;
