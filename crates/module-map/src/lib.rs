//! What was mapped where, and by which file: address spaces pieced together from mmap records, and the ELF images
//! behind them.
//!
//! A [`Timeline`] replays maps, forks, execs and exits; a [`Space`] is what it knows of one process at one time, as
//! disjoint [`Piece`]s of [`Module`]s. A module's file is found, opened and checked once, by a [`Library`]; an
//! [`Image`] is one opened ELF file. Addresses of a process become addresses of the file piece by piece, with the
//! bias taken from the `PT_LOAD` header that covers the byte, because linkers are free to state another address than
//! the offset in the file.

mod bytes;
mod debug_file;
mod error;
mod find;
mod image;
mod library;
mod module;
mod name;
mod section;
mod space;
mod table;
mod timeline;
mod vdso;

pub use error::ImageError;
pub use find::FileOptions;
pub use image::{Image, Machine, Segment};
pub use library::{Library, LoadedImage, Refusal};
pub use module::{FileIdentity, Module, ModuleKind};
pub use section::Section;
pub use space::{Piece, Space};
pub use timeline::{CommId, Lineage, MapEvent, Timeline};
