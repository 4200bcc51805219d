//! Code that was made while the process ran and written to a dump by whoever made it: the dump's records, an ELF file
//! of the code, and what loads it when on the timeline.

mod code_image;
mod collect;
mod dump;
mod dump_reader;
mod elf_write;
mod frames;
mod line_write;
mod names;
mod records;
mod schedule;

pub use code_image::{CodeImage, LineRow};
pub use dump::{JitDump, JitLoad, JitReader};
pub use dump_reader::DumpReader;
pub(crate) use names::{is_injected, is_marker};
pub(crate) use schedule::{Pending, PendingLoad};
