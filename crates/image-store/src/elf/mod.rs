//! ELF files: headers, sections and compressed sections, the layout of relocatable files by
//! linker and kernel, and entries in archives.
//! Independent of processes and of the search for files.

mod bytes;
mod compression;
mod data;
mod error;
mod file_allowance;
mod function_parts;
mod headerless;
mod identity;
mod image;
mod prefetch;
mod program;
mod psabi;
mod relocations;
mod section;
mod section_names;
mod segment;
mod zip;

pub(crate) use bytes::ImageSource;
pub(crate) use compression::{FileCompression, unpack};
pub(crate) use data::{ElfData, build_id_of};
pub use error::ImageError;
pub(crate) use file_allowance::{FileAllowance, OmittedPart};
pub(crate) use function_parts::CodeSymbols;
pub use image::Image;
pub use relocations::{CallSlot, Exported, MODULE_CODE, NeededLibraries, SlotValue, is_within};
pub(crate) use relocations::{SectionLayout, link};
pub use section::Section;
pub use segment::Segment;
pub(crate) use zip::entry_named;
