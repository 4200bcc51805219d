//! The table of functions that Go's linker writes into every program (`.gopclntab`), because the runtime uses it for
//! stack walks.
//! Stripped programs have it, too: names, files and lines, inlined calls, and the frame size at each instruction.
//!
//! Supports Go 1.16 to 1.27, in 64-bit little-endian files. Everything in the table is untrusted: references outside it
//! are ignored, strings have a limited length, and tables of values have no more steps than the code has bytes.
//!
//! The crate reads the table of any ELF file that implements [`Program`].
//!
//! ```
//! use gopclntab::{GoTable, Program, ProgramSection, ProgramSegment};
//!
//! /// A file without such a table.
//! struct Empty;
//!
//! impl Program for Empty {
//!     fn bytes(&self) -> &[u8] {
//!         b"\x7fELF\x02\x01"
//!     }
//!
//!     fn is_little_endian(&self) -> bool {
//!         true
//!     }
//!
//!     fn section(&self, _name: &str) -> Option<ProgramSection> {
//!         None
//!     }
//!
//!     fn segments(&self) -> Vec<ProgramSegment> {
//!         Vec::new()
//!     }
//!
//!     fn relative_words(&self) -> Vec<(u64, u64)> {
//!         Vec::new()
//!     }
//!
//!     fn read_only_bytes(&self, _address: u64, _len: usize) -> Option<&[u8]> {
//!         None
//!     }
//! }
//!
//! // The search has no step limit.
//! assert!(GoTable::find(&Empty, &|| true).is_none());
//! ```

mod bytes;
mod function;
mod functions;
mod layout;
mod program;
mod table;
mod table_data;
mod values;

pub use function::{GoFunction, GoInlinedCall, GoValueKind};
pub use functions::GoFunctions;
pub use program::{Program, ProgramSection, ProgramSegment};
pub use table::{BadGoTable, GoTable};
pub use values::{GoValue, GoValues};
