//! Names for addresses: ELF symbols, inline chains and lines from DWARF, `/proc/kallsyms`, JIT maps.
//!
//! Users need the function of an address, the functions that were inlined there, and the source line.
//! A [`SymbolRequest`] is a file with a sorted set of its addresses. [`symbolize`] returns the frames of each, innermost
//! first, or the reason that there is no name:
//!
//! ```
//! use std::path::Path;
//! use address::Svma;
//! use image_store::Image;
//! use profile::Strings;
//! use symbolizer::{SymbolizeOptions, SymbolRequest, SymbolSource, WhyNoName, symbolize};
//! use synth::{ElfBuilder, Section, Segment, Symbol};
//!
//! // A small ELF file: two functions of 8 bytes, then 16 bytes of code without a symbol.
//! let elf = ElfBuilder {
//!     segments: vec![Segment::load_text(0x1000, 0x1000, 0x20)],
//!     sections: vec![Section::text(0x1000, vec![0x90; 0x20])],
//!     symbols: vec![
//!         Symbol::function("_ZN4math3addEii", 0x1000, 8),
//!         Symbol::function("main", 0x1008, 8),
//!     ],
//!     ..ElfBuilder::x86_64()
//! };
//! let image = Image::from_vec(Path::new("program"), elf.build())?;
//!
//! let addresses = [Svma(0x1004), Svma(0x1008), Svma(0x1010)];
//! let request = SymbolRequest { source: SymbolSource::of(&image), addresses: &addresses };
//! let mut strings = Strings::default();
//! let symbols = symbolize(&[request], &SymbolizeOptions::default(), &mut strings);
//!
//! let name = |index: usize| {
//!     let frame = &symbols.frames[symbols.addresses[0][index].frames.start as usize];
//!     frame.function.map(|id| strings.get(id))
//! };
//! assert_eq!(name(0), Some(&b"math::add(int, int)"[..]));
//! assert_eq!(name(1), Some(&b"main"[..]));
//! assert_eq!(symbols.addresses[0][1].function_start, Some(Svma(0x1008)));
//! let last = &symbols.addresses[0][2];
//! assert_eq!((last.frames.len(), last.reason), (0, Some(WhyNoName::NotCovered)));
//! assert_eq!(symbols.findings, []);
//! # Ok::<(), image_store::ImageError>(())
//! ```
//!
//! Damaged and missing parts are in [`Symbols::findings`]; [`LostNames`] adds them up for a whole recording.
//!
//! # How it works
//!
//! The *set* of distinct addresses of each file is known, so each table of the file is read once for all of them: the
//! symbol table is not sorted, the line program not stored, and a DIE tree is only read if its unit contains an
//! address.
//! Work is distributed over files and over the units of each; the result is the same for any number of threads.
//!
//! ```text
//!   Request: Image + debug file + sorted addresses
//!     |-- elf:   one pass over .symtab and .dynsym --> symbol per address; PLT stubs
//!     |-- dwarf: roots of .debug_info --------------> addresses per unit
//!     |          each hit unit: DIE walk, line program -> frames with local names and files
//!     |-- go:    the table of functions of Go programs, if nothing else has names
//!     '-- run:   the order of these steps; distinct names demangled once, frames by address
//!
//!   kernel: the recorded kernel, its files, its list of symbols           RecordedKernel
//!   device: names that simpleperf wrote into the recording                DeviceSymbols
//! ```
//!
//! Known differences from `perf script`:
//! - Data objects do not name code, and a label without a size does not truncate the enclosing function.
//! - Symbols without a size end with their section, and at the frame description of another function.
//! - Inlined frames are looked up at the same address as the symbol.

mod addresses;
mod bytes;
mod device;
mod disassembly;
mod dwarf;
mod elf;
mod finding;
mod go;
mod kernel;
mod languages;
mod lost_names;
mod naming;
mod observer;
mod request;
mod run;
mod stored_splits;

pub use device::{DeviceFile, DeviceFileKind, DeviceSymbol, DeviceSymbols};
pub use disassembly::{Instruction, NoInstructions, disassemble};
pub use finding::{SymbolFinding, SymbolFindingKind};
pub use kernel::{
    Kallsyms, KallsymsError, KernelFile, KernelFunction, KernelListPrefetch, KernelListSources,
    KernelNames, KernelSymbol, KernelSymbols, NoKernelNames, RecordedKernel, is_kernel_itself,
    kernel_module_starts, kernel_proofs,
};
pub use lost_names::{LostNames, LostNamesRow};
pub use observer::{SymbolObserver, SymbolStage, SymbolTimings};
pub use options::Demangle;
pub use request::{
    ANSWERS, ResolvedAddress, SplitFinder, SymbolRequest, SymbolSource, SymbolizeOptions, Symbols,
    WhyNoName,
};
pub use run::{compile_dirs, named_source, prefetch, prefetch_on_pool, symbolize};
pub use stored_splits::StoredSplits;
