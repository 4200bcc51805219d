//! Store of a run: the file of each module, opened once, checked against the recording, and shared by content.
//! It also has the separate debug files that belong to them, and the files of JIT compilers.

mod build_id_lookup;
mod by_content;
mod debug;
mod images;
mod jit;
mod load;
mod loaded;
mod outcomes;
mod shared;
mod vdso;

pub use images::ImageStore;
pub use jit::{DumpReader, PerfMapAge, PerfMapFile};
pub use loaded::LoadedImage;
pub use shared::{ImageLimits, SharedImages};
