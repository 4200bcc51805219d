//! What was mapped where, and by which file: address spaces pieced together from mmap records, and the ELF images
//! behind them.
//!
//! A [`Timeline`] replays maps, forks, execs and exits; a [`Space`] is what it knows of one process at one time, as
//! disjoint [`Piece`]s of [`Module`]s. A module's file is found, opened and checked once, by a [`Library`]; an
//! [`Image`] is one opened ELF file. Addresses of a process become addresses of the file piece by piece, with the
//! bias taken from the `PT_LOAD` header that covers the byte, because linkers are free to state another address than
//! the offset in the file.

mod archive;
mod bytes;
mod chunk;
mod debug_file;
mod early;
mod elf_write;
mod error;
mod extra;
mod find;
mod hint;
mod hints;
mod image;
mod jit;
mod journal;
mod kernel_files;
mod library;
mod line_write;
mod live;
mod loaded;
mod module;
mod modules;
mod name;
mod options;
mod relocate;
mod relocate_raw;
mod section;
mod space;
mod split_dwarf;
mod table;
mod timeline;
mod unpack;
mod vdso;
mod zip;

pub use archive::Archive;
pub use elf_write::{CodeImage, LineRow};
pub use error::ImageError;
pub use extra::ExtraFiles;
pub use hint::{Hint, HintError, HintScope};
pub use image::{Image, Machine, Segment};
pub use jit::{JitDump, JitLoad, JitReader};
pub use library::{Library, Refusal};
pub use loaded::LoadedImage;
pub use module::{FileIdentity, Inode, Module, ModuleKind};
pub use name::kernel_module_name;
pub use options::{Fetch, FetchKind, Fetcher, FileOptions};
pub use relocate::MODULE_CODE;
pub use section::Section;
pub use space::{Piece, Space};
pub use timeline::{CommId, Inference, Lineage, MapEvent, Timeline};
