//! Code without files: dumps (`jit-PID.dump`) and map files (`perf-PID.map`) of JIT compilers.
//!
//! A JIT compiler generates code while its process runs. Its dump contains each function with
//! bytes, name, lines and call frame information.
//! [`DumpCode`] provides the loads for the timeline, and an ELF file of the code, so that it is
//! unwound and named like other code.
//! A map file contains the names of ranges of addresses: [`PerfMap`] looks them up.
//! Both are parsed from bytes; this crate opens no files.
//!
//! ```
//! use address::{Arch, Avma};
//! use jit::{CodeImage, PerfMap};
//!
//! // A later line wins the bytes that it covers.
//! let map = PerfMap::parse(b"1000 100 first\n1080 10 second\n".to_vec());
//! let name = |address| map.lookup(Avma(address)).map(|function| function.name);
//! assert_eq!(name(0x1000), Some(&b"first"[..]));
//! assert_eq!(name(0x1085), Some(&b"second"[..]));
//! assert_eq!(name(0x1100), None);
//!
//! // The address of a function in a file that is made of its code.
//! let mut code = CodeImage::new(Arch::X86_64.e_machine());
//! assert_eq!(code.add_code(b"first", &[0xc3]).map(|address| address.0), Some(0x1000));
//! assert!(code.finish().starts_with(b"\x7fELF"));
//! ```

mod code_image;
mod dump_code;
mod frames;
mod perf_map;
mod records;

pub use code_image::CodeImage;
pub use dump_code::DumpCode;
pub use perf_map::{JitSymbol, PerfMap};
pub use records::DumpDamage;
