//! ELF files and debug information made at run time: for code that was never in a file, and as a
//! replacement for a file with confidential contents.
//!
//! ```
//! use address::Svma;
//! use elf_writer::elf::{EM_X86_64, ET_DYN, SHF_ALLOC, SHF_EXECINSTR, SHT_PROGBITS};
//! use elf_writer::{ElfFile, FileHeader, SectionHeader, SymbolWriter};
//!
//! let header = FileHeader { e_type: ET_DYN, e_machine: EM_X86_64, ..FileHeader::default() };
//! let mut file = ElfFile::new(header, 0);
//! let text = SectionHeader {
//!     sh_type: SHT_PROGBITS,
//!     sh_flags: SHF_ALLOC | SHF_EXECINSTR,
//!     sh_addr: 0x1000,
//!     sh_addralign: 16,
//!     ..SectionHeader::default()
//! };
//! file.section(".text", &text, &[0xc3]);
//! let mut symbols = SymbolWriter::default();
//! symbols.function(b"f", 1, Svma(0x1000), 1).ok_or("names of 4 GiB")?;
//! file.symbols(&symbols);
//! assert_eq!(file.finish(&[]).get(..4), Some(&b"\x7fELF"[..]));
//! # Ok::<(), &str>(())
//! ```

mod bytes;
mod debug_info;
mod file;
mod line_program;
mod symbols;

pub use bytes::{push_text, push_unsigned};
pub use debug_info::{Abbreviation, DebugInfo, UNIT, abbreviations};
pub use file::{ElfFile, load};
pub use gimli::constants as dwarf;
pub use line_program::{LineProgram, LineRow};
pub use object::elf;
pub use object::write::elf::{FileHeader, ProgramHeader, SectionHeader};
pub use symbols::SymbolWriter;
