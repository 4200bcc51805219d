//! Code that was made while the process ran and written to a dump by whoever made it: the dump's records, an ELF file
//! of the code, and what loads it when on the timeline.

mod code_image;
mod collect;
mod dump;
mod dump_reader;
mod frames;
mod names;
mod records;
mod schedule;

pub use code_image::CodeImage;
pub use dump::{JitDump, JitLoad, JitReader};
pub use dump_reader::DumpReader;
pub(crate) use names::{is_injected, is_marker};
pub(crate) use schedule::{Pending, PendingLoad};
