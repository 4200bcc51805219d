//! The table of functions that Go's linker writes into every program (`.gopclntab`), for the runtime walks stacks by it. It
//! is there where symbols and debug information were stripped: names, files and lines, inlined calls, and for each
//! instruction how large the frame is.
//!
//! Versions of Go 1.16 to 1.27 are read, of 64-bit little-endian files. Everything in the table is a stranger's word: what
//! leads out of it is nothing, strings have a longest length, and the tables of values have no more steps than the code
//! has bytes.
//!
//! ```
//! use budget::{Budget, Meter};
//! use gopclntab::GoTable;
//! use image_store::Image;
//! use synth::{ElfBuilder, Section, Segment};
//!
//! // A file without such a table.
//! let elf = ElfBuilder {
//!     segments: vec![Segment::load_text(0x1000, 0x1000, 0x20)],
//!     sections: vec![Section::text(0x1000, vec![0x90; 0x20])],
//!     ..ElfBuilder::x86_64()
//! };
//! let image = Image::from_vec("program".as_ref(), elf.build())?;
//! let meter = Meter::new(&Budget::default(), image.bytes().len());
//! assert!(GoTable::find(&image, &meter).is_none());
//! # Ok::<(), image_store::ImageError>(())
//! ```

mod bytes;
mod find;
mod function;
mod functions;
mod layout;
mod parts;
mod values;

pub use find::{BadGoTable, GoTable};
pub use function::{GoFunction, GoInlinedCall, GoValueKind};
pub use functions::GoFunctions;
pub use values::{GoValue, GoValues};
