//! Names for addresses: ELF symbols, inline chains and lines out of DWARF, `/proc/kallsyms`, JIT maps.
//!
//! An address in a program means little to people; they want to know which function it is in, which functions were
//! inlined there, and which line of which file that is. A [`Request`] is a file with a sorted set of addresses as the
//! file states them; [`symbolize`] gives for each its frames, the innermost function first, or the reason why there is
//! no name:
//!
//! ```
//! use std::path::Path;
//! use address::Svma;
//! use image_store::Image;
//! use profile::Strings;
//! use symbolizer::{Options, Request, SymbolSource, WhyNoName, symbolize};
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
//! let request = Request { source: SymbolSource::of(&image), addresses: &addresses };
//! let mut strings = Strings::default();
//! let symbols = symbolize(&[request], &Options::default(), &mut strings);
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
//! What is damaged or missing on the way is in [`Symbols::findings`]; [`LostNames`] adds that up for a whole recording.
//!
//! # How it works
//!
//! The *set* of distinct addresses of each file is known, so that each table of the file is gone through once for all
//! of them: the symbol table is never sorted, the line program never stored, and a DIE tree is read only where a unit
//! holds an address. Work is spread over files and over the units of each; the result is the same for any number of
//! threads.
//!
//! ```text
//!   Request: Image + debug file + sorted addresses
//!     |-- elf:   one pass over .symtab and .dynsym --> symbol per address; PLT stubs
//!     |-- dwarf: roots of .debug_info --------------> addresses per unit
//!     |          each hit unit: DIE walk, line program -> frames with local names and files
//!     |-- go:    the table of functions of Go programs, where nothing else has names
//!     '-- run:   the order of all that; distinct names demangled once, frames by address
//!
//!   kernel: which kernel was recorded, its files, its list of symbols     RecordedKernel
//!   device: names that simpleperf wrote into the recording                DeviceSymbols
//! ```
//!
//! Known differences from `perf script`: data objects name no code, a label without size does not cut the function
//! that encloses it, symbols without size end with their section, and where the frame description of another
//! function begins, and inlined frames are looked up at the same address as the symbol.

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
mod lost;
mod naming;
mod observer;
mod request;
mod run;
mod stored;

pub use device::{DeviceFile, DeviceFileKind, DeviceSymbol, DeviceSymbols};
pub use disassembly::{Instruction, NoInstructions, disassemble};
pub use finding::{SymbolFinding, SymbolFindingKind};
pub use kernel::{
    Kallsyms, KallsymsError, KernelFile, KernelFunction, KernelListPlaces, KernelListPrefetch,
    KernelNames, KernelSymbol, KernelSymbols, NoKernelNames, RecordedKernel, kernel_proofs,
};
pub use lost::{LostNames, LostNamesRow};
pub use observer::{SymbolObserver, SymbolStage, SymbolTimings};
pub use options::Demangle;
pub use request::{
    ANSWERS, Options, Request, ResolvedAddress, SplitFinder, SymbolSource, Symbols, WhyNoName,
};
pub use run::{prefetch, prefetch_on_pool, symbolize};
pub use stored::StoredSplits;
