//! What was mapped where, and by which file: address spaces pieced together from mmap records, and the ELF images
//! behind them.
//!
//! A [`Timeline`] replays maps, forks, execs and exits; a [`Space`] is what it knows of one process at one time, as
//! disjoint [`Piece`]s of [`Module`]s. A module's file is found, opened and checked once, by a [`Library`]; an
//! [`Image`] is one opened ELF file. Addresses of a process become addresses of the file piece by piece, with the
//! bias taken from the `PT_LOAD` header that covers the byte, because linkers are free to state another address than
//! the offset in the file.

mod elf;
mod files;
mod jit;
mod module;
mod process;
mod space;

pub use elf::{ElfMachine, Image, ImageError, MODULE_CODE, Section, Segment};
pub use files::{
    Archive, ExtraFiles, Fetch, FetchKind, Fetcher, FileOptions, ImageLimits, ImageStore,
    LoadError, LoadedImage, SharedImages,
};
pub use jit::{CodeImage, DumpReader, JitDump, JitLoad, JitReader, LineRow};
pub use module::{FileIdentity, Inode, Module, ModuleKind, kernel_module_name};
pub use process::{CommId, Hint, HintError, HintScope, Inference, Lineage, MapEvent, Timeline};
pub use space::{Piece, Space};

/// The image store by its former name.
pub type Library = ImageStore;
/// The error of the image store by its former name.
pub type Refusal = LoadError;
