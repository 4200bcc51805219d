//! Names for addresses: ELF symbols, inline chains and lines out of DWARF, `/proc/kallsyms`, JIT maps.
//!
//! [`symbolize`] takes the *set* of distinct addresses of each file, sorted, and goes through each table of the file
//! once for all of them: the symbol table is never sorted, the line program never stored, and a DIE tree is read only
//! where a unit holds an address. Work is spread over files and over the units of each; the result is the same for
//! any number of threads.
//!
//! ```text
//!   Request: Image + debug file + sorted addresses
//!     |-- symbols: one pass over .symtab and .dynsym --> symbol per address; PLT stubs
//!     |-- units:   roots of .debug_info --------------> addresses per unit
//!     |            each hit unit: DIE walk, line program -> frames with local names and files
//!     '-- merge:   distinct names demangled once, frames by address
//! ```
//!
//! Known differences from `perf script`: data objects name no code, a label without size does not cut the function
//! that encloses it, symbols without size end with their section, and inlined frames are looked up at the same
//! address as the symbol.

mod account;
mod addresses;
mod bytes;
mod demangle;
mod device;
mod dwarf;
mod elf;
mod finding;
mod jit;
mod job;
mod kernel;
mod lost;
mod merge;
mod names;
mod observer;
mod request;
mod splits;
mod stored;
mod symbolize;

pub use demangle::{Demangle, demangle};
pub use device::{DeviceFile, DeviceFileKind, DeviceSymbol, DeviceSymbols};
pub use finding::{SymbolFinding, SymbolFindingKind};
pub use jit::{JitSymbol, PerfMap, read_perf_map};
pub use kernel::{
    Kallsyms, KallsymsError, KernelFile, KernelListPlaces, KernelListPrefetch, KernelNames,
    KernelSymbol, NoKernelNames, RecordedKernel,
};
pub use lost::{LostNames, LostNamesRow};
pub use names::{NameId, NameTable};
pub use observer::{SymbolObserver, SymbolStage, SymbolTimings};
pub use request::{
    Options, Request, ResolvedAddress, ResolvedFrame, SplitFinder, SymbolSource, Symbols, WhyNoName,
};
pub use stored::StoredSplits;
pub use symbolize::{prefetch, symbolize};
