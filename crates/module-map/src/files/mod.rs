//! Which file of this machine a module is: candidates by name and by build-id, opened once, and checked against what
//! was recorded; with the separate debug files that belong to it.

mod archive;
mod debug_file;
mod extra;
mod find;
mod kernel_files;
mod library;
mod live;
mod loaded;
mod options;
mod split_dwarf;
mod vdso;

pub use archive::Archive;
pub use extra::ExtraFiles;
pub use library::{Library, Refusal};
pub use loaded::LoadedImage;
pub use options::{Fetch, FetchKind, Fetcher, FileOptions};
