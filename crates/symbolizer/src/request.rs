//! What is asked of the symbolizer, and what it answers.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use address::Svma;
use budget::{Budget, Held, Memory, MemoryUse};
use image_store::Image;
use options::Demangle;
use profile::{InlineRow, StringId};

use crate::finding::SymbolFinding;
use crate::observer::SymbolObserver;

/// The files that know about the addresses of one module. Their identity (build-id, CRC) was checked when they
/// were found.
#[derive(Clone, Copy)]
pub struct SymbolSource<'a> {
    /// The file that was mapped at run time.
    pub image: &'a Image,
    /// Its separate debug file.
    pub debug: Option<&'a Image>,
    /// The supplementary file that `debug` (or `image`) names in `.gnu_debugaltlink` or `.debug_sup` (dwz).
    pub alt: Option<&'a Image>,
    /// A further file of which only the symbol table is used: the unpacked `.gnu_debugdata`.
    pub mini: Option<&'a Image>,
    /// Where the files of split DWARF (`.dwo`, `.dwp`) are found.
    pub split: Option<&'a dyn SplitFinder>,
}

/// Finds the files of split DWARF. Called from several threads.
pub trait SplitFinder: Sync {
    /// The image with the `.debug_info.dwo` of the unit with this id; `directory` is its compilation directory and
    /// `name` its `DW_AT_dwo_name`. A package (`.dwp`) is the answer for all units in it.
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

/// What to find out, and who watches.
#[derive(Clone, Copy, Debug)]
pub struct Options<'o> {
    /// Functions that were inlined at the address.
    pub inlines: bool,
    /// File, line and column.
    pub lines: bool,
    /// How names are written.
    pub demangle: Demangle,
    /// Who observes the run, and can cancel it.
    pub observer: Option<&'o dyn SymbolObserver>,
    /// What each file may cost.
    pub budget: Budget,
    /// What is held in memory for the run: one that holds too much is cancelled.
    pub memory: Option<&'o Arc<Memory>>,
}

impl Options<'_> {
    /// Whether the run is no longer wanted.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.observer.is_some_and(SymbolObserver::is_cancelled)
            || self.memory.is_some_and(|memory| memory.is_exceeded())
    }

    /// Nothing yet, of what is held for a use.
    pub(crate) fn held(&self, of: MemoryUse) -> Held {
        self.memory.map_or(Held::NOWHERE, |memory| Held::new(memory, of))
    }
}

impl Default for Options<'_> {
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
pub struct Request<'a> {
    /// Where to look.
    pub source: SymbolSource<'a>,
    /// What to look up, sorted and distinct, as stated by the file; callers are return address - 1 already.
    pub addresses: &'a [Svma],
}

/// The version of what is answered. To be counted up with every change by which a file has another answer, so that
/// nobody takes an answer of before for one of now.
pub const ANSWERS: u32 = 1;

/// The answers to all requests.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Symbols {
    /// The frames of all addresses; an address owns a range of it.
    pub frames: Vec<InlineRow>,
    /// For each request, its addresses in their order.
    pub addresses: Vec<Vec<ResolvedAddress>>,
    /// What was damaged or missing, in the order of the requests, the kinds and the files.
    pub findings: Vec<SymbolFinding>,
}

/// What is known about one address. It does not depend on which other addresses are asked for, but where inlined functions
/// are left out, and where a budget runs out; [`ANSWERS`] is its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedAddress {
    /// Where the function that is not inlined begins.
    pub function_start: Option<Svma>,
    /// Rows of [`Symbols::frames`], innermost function first, the one that is not inlined last; empty where nothing
    /// is known.
    pub frames: Range<u32>,
    /// Why the function that is not inlined has no name; `None` where it has one.
    pub reason: Option<WhyNoName>,
    /// What debug information calls that function, where the name of the symbol took its place and is another one. No
    /// frame has it, but it was made a string before the symbol's.
    pub replaced: Option<StringId>,
}

/// Why an address has no function name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum WhyNoName {
    /// The module has no file, or it was not found. Never the answer of [`symbolize`](crate::symbolize) itself.
    NoFile,
    /// The file has neither symbols nor debug information.
    NoSymbols,
    /// The file has symbols, but none that covers the address.
    NotCovered,
}

impl WhyNoName {
    /// The word for it in outputs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoFile => "no-file",
            Self::NoSymbols => "no-symbols",
            Self::NotCovered => "not-covered",
        }
    }
}
