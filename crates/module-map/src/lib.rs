//! What was mapped where, and by which file: address spaces pieced together from mmap records, and the ELF images
//! behind them.
//!
//! An [`Image`] is one opened ELF file. Addresses of a process become addresses of the file piece by piece, with the
//! bias taken from the `PT_LOAD` header that covers the byte, because linkers are free to state another address than
//! the offset in the file.

mod bytes;
mod error;
mod image;
mod section;

pub use error::ImageError;
pub use image::{Image, Machine, Segment};
pub use section::Section;
