//! Input and output of the symbolizer.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use address::Svma;
use budget::{Budget, HeldMemory, MemoryBudget, MemoryUse};
use image_store::Image;
use options::Demangle;
use profile::{InlineRow, StringId};

use crate::finding::SymbolFinding;
use crate::observer::SymbolObserver;

/// The files with information on the addresses of one module. Their identity (build-id, CRC) was checked when they were
/// found.
#[derive(Clone, Copy)]
pub struct SymbolSource<'a> {
    /// The file that was mapped at run time.
    pub image: &'a Image,
    /// Its separate debug file.
    pub debug: Option<&'a Image>,
    /// The supplementary file that `debug` (or `image`) names in `.gnu_debugaltlink` or `.debug_sup` (dwz).
    pub alt: Option<&'a Image>,
    /// Another file with a symbol table: the unpacked `.gnu_debugdata`. Nothing else of it is used.
    pub mini: Option<&'a Image>,
    /// Finder for the files of split DWARF (`.dwo`, `.dwp`).
    pub split: Option<&'a dyn SplitFinder>,
}

/// Finds the files of split DWARF. Called from several threads.
pub trait SplitFinder: Sync {
    /// Returns the image with the `.debug_info.dwo` of the unit with this id; `directory` is its compilation directory
    /// and `name` its `DW_AT_dwo_name`. For all units in a package (`.dwp`), returns the package.
    fn find(&self, id: u64, directory: &[u8], name: &[u8]) -> Option<&Image>;
}

impl<'a> SymbolSource<'a> {
    /// A file without separate debug files.
    #[must_use]
    pub const fn of(image: &'a Image) -> Self {
        Self { image, debug: None, alt: None, mini: None, split: None }
    }
}

impl fmt::Debug for SymbolSource<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SymbolSource").field("image", &self.image.path()).finish_non_exhaustive()
    }
}

/// Options of a run.
#[derive(Clone, Copy, Debug)]
pub struct SymbolizeOptions<'o> {
    /// If true, looks up the functions that were inlined at the address.
    pub inlines: bool,
    /// If true, looks up file, line and column.
    pub lines: bool,
    /// Form of the names.
    pub demangle: Demangle,
    /// Observer that can cancel the run.
    pub observer: Option<&'o dyn SymbolObserver>,
    /// Limits for each file.
    pub budget: Budget,
    /// Memory accounting; the run is cancelled if it exceeds the limit.
    pub memory: Option<&'o Arc<MemoryBudget>>,
}

impl SymbolizeOptions<'_> {
    /// Returns true if the run is cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.observer.is_some_and(SymbolObserver::is_cancelled)
            || self.memory.is_some_and(|memory| memory.is_exceeded())
    }

    /// Returns a memory account for a use, starting at 0.
    pub(crate) fn held(&self, of: MemoryUse) -> HeldMemory {
        self.memory.map_or(HeldMemory::UNCOUNTED, |memory| HeldMemory::new(memory, of))
    }
}

impl Default for SymbolizeOptions<'_> {
    fn default() -> Self {
        Self {
            inlines: true,
            lines: true,
            demangle: Demangle::Full,
            observer: None,
            budget: Budget::default(),
            memory: None,
        }
    }
}

/// The addresses of one module.
#[derive(Clone, Copy, Debug)]
pub struct SymbolRequest<'a> {
    /// The files to look up in.
    pub source: SymbolSource<'a>,
    /// File addresses to look up, sorted and distinct. Those of callers are already return address - 1.
    pub addresses: &'a [Svma],
}

/// Version of the answers. Increment it with every change of the answers for a file, so that outdated cached answers
/// are not used.
pub const ANSWERS: u32 = 1;

/// The answers to all requests.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Symbols {
    /// The frames of all addresses; an address owns a range of it.
    pub frames: Vec<InlineRow>,
    /// For each request, its addresses in their order.
    pub addresses: Vec<Vec<ResolvedAddress>>,
    /// Damage and missing files, sorted by request, kind and file.
    pub findings: Vec<SymbolFinding>,
}

/// The answer for one address. It does not depend on the other requested addresses, unless inlined functions are
/// omitted or a budget is exhausted. [`ANSWERS`] is its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedAddress {
    /// Start of the function that is not inlined.
    pub function_start: Option<Svma>,
    /// Rows of [`Symbols::frames`], innermost function first, the one that is not inlined last. Empty if nothing was
    /// found.
    pub frames: Range<u32>,
    /// The reason that the function that is not inlined has no name; `None` if it has one.
    pub reason: Option<WhyNoName>,
    /// The name of that function in debug information, if the symbol's name differs and replaced it. No frame has it,
    /// but it was interned before the symbol's.
    pub replaced: Option<StringId>,
}

/// The reason that an address has no function name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum WhyNoName {
    /// The module has no file, or it was not found. [`symbolize`](crate::symbolize) itself never returns this.
    NoFile,
    /// The file has neither symbols nor debug information.
    NoSymbols,
    /// The file has symbols, but none that covers the address.
    NotCovered,
}

impl WhyNoName {
    /// Identifier in outputs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoFile => "no-file",
            Self::NoSymbols => "no-symbols",
            Self::NotCovered => "not-covered",
        }
    }
}
