//! Damage and missing files that were found during a run.

use std::fmt;
use std::path::PathBuf;

use budget::{Exhausted, Resource};

/// Damage or a missing file that lost names or lines. One for each kind and file of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolFinding {
    /// Index of the request.
    pub request: u32,
    /// Its kind.
    pub kind: SymbolFindingKind,
    /// The file that is damaged, or that refers to the missing one.
    pub path: PathBuf,
    /// Its positions, ascending and distinct: offsets in the section that the kind names.
    pub places: Vec<u64>,
    /// Name of the missing file, as stated at the first position.
    pub missing: Option<Vec<u8>>,
}

/// The kinds of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SymbolFindingKind {
    /// A section of symbols or debug information could not be decompressed, or is outside the file. Positions are file
    /// offsets.
    Section,
    /// `.debug_info`: the header or root of a unit could not be read; later units are skipped.
    UnitHeader,
    /// `.debug_info`: the version or the root of a unit could not be read; later units are read.
    UnitRoot,
    /// `.debug_info`: entries of a unit could not be read to their end.
    Entries,
    /// `.debug_info`: an entry refers to a name, an address, a list of ranges or another entry that cannot be read.
    Reference,
    /// `.debug_line`: the line program of a unit could not be read to its end.
    LineProgram,
    /// `.debug_info`: the file with the contents of a unit was not found (split DWARF: `.dwo`, `.dwp`).
    SplitUnitMissing,
    /// The supplementary file with parts shared by several files was not found (dwz). The position is 0.
    AltFileMissing,
    /// The file exceeds the limit on a resource for its size; the rest is omitted. The position is the limit.
    OverBudget(Resource),
}

impl SymbolFindingKind {
    /// Identifier in outputs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Section => "section-unreadable",
            Self::UnitHeader => "debug-header-damaged",
            Self::UnitRoot => "debug-unit-damaged",
            Self::Entries => "debug-info-damaged",
            Self::Reference => "debug-reference-damaged",
            Self::LineProgram => "line-table-damaged",
            Self::SplitUnitMissing => "dwo-missing",
            Self::AltFileMissing => "dwz-missing",
            Self::OverBudget(_) => "limit-reached",
        }
    }
}

impl fmt::Display for SymbolFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        let first = self.places.first().copied().unwrap_or(0);
        let missing = String::from_utf8_lossy(self.missing.as_deref().unwrap_or_default());
        match self.kind {
            SymbolFindingKind::Section => write!(
                f,
                "{path}: the section at offset {first:#x} is unreadable; names or lines are missing"
            ),
            SymbolFindingKind::UnitHeader => write!(
                f,
                "{path}: the unit at {first:#x} of .debug_info is unreadable; inlined functions and lines of later units are missing"
            ),
            SymbolFindingKind::UnitRoot => write!(
                f,
                "{path}: the unit at {first:#x} of .debug_info is unreadable; its inlined functions and lines are missing"
            ),
            SymbolFindingKind::Entries => write!(
                f,
                "{path}: the entry at {first:#x} of .debug_info is unreadable; inlined functions of its unit are missing"
            ),
            SymbolFindingKind::Reference => write!(
                f,
                "{path}: the entry at {first:#x} of .debug_info has an invalid reference; names, inlined functions or lines are missing"
            ),
            SymbolFindingKind::LineProgram => write!(
                f,
                "{path}: the line program at {first:#x} of .debug_line is damaged; lines are missing"
            ),
            SymbolFindingKind::SplitUnitMissing => write!(
                f,
                "{path}: {missing}, the split debug information of a unit, was not found; inlined functions are missing"
            ),
            SymbolFindingKind::OverBudget(resource) => write!(
                f,
                "{path}: its debug information needs {}, too many for its size; names, inlined functions or lines are missing",
                Exhausted { resource, limit: first }
            ),
            SymbolFindingKind::AltFileMissing => write!(
                f,
                "{path}: {missing}, its shared debug information, was not found; inlined functions are missing"
            ),
        }
    }
}
