//! ELF files: their headers, sections and compressed sections, what the linker or the kernel does to relocatable ones,
//! and where they lie in an archive. Knows nothing of processes, and nothing of where files are looked for.

mod bytes;
mod early;
mod error;
mod image;
mod relocate;
mod relocate_raw;
mod section;
mod unpack;
mod zip;

pub(crate) use bytes::FileBytes;
pub use error::ImageError;
pub use image::{Image, Machine, Segment};
pub use relocate::MODULE_CODE;
pub(crate) use relocate::{SectionLayout, link};
pub use section::Section;
pub(crate) use unpack::{Packing, unpack};
