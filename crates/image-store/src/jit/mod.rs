//! Code that was made while the process ran and written to a dump by whoever made it: the dump's records, an ELF file
//! of the code, and the reader that the timeline asks for it.

mod code_image;
mod collect;
mod dump_reader;
mod frames;
mod records;

pub use code_image::CodeImage;
pub use dump_reader::DumpReader;
