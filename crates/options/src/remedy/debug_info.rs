//! Separate debug information in advice.

use address::BuildId;

use super::{Spelling, UntriedOptions};

/// Separate debug information of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DebugInfo {
    /// The symbols that the file has without it.
    pub symbols: SymbolPresence,
    /// The evidence that it belongs to the file.
    pub proof: DebugProof,
    /// True if the file is from a distribution's package, false if the user can rebuild it.
    pub packaged: bool,
    /// The options that may find it.
    pub untried: UntriedOptions,
}

/// The symbols in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SymbolPresence {
    /// None.
    Stripped,
    /// Only exported ones.
    Exported,
}

/// The evidence that separate debug information belongs to a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DebugProof {
    /// The build-id.
    Id(BuildId),
    /// The name in `.gnu_debuglink`, with its checksum.
    Link(String),
    /// None: no file would be used.
    Nothing,
}

impl DebugInfo {
    /// Returns the advice to provide it; `None` if no file would be used.
    pub(super) fn advice(&self, spelling: Spelling) -> Option<String> {
        let untried = self.untried;
        match &self.proof {
            DebugProof::Id(id) => {
                let options = untried.to_debug_file(true, spelling);
                Some(if untried.install && self.packaged {
                    format!("install its debug package (build-id {id}), or add {options}")
                } else {
                    format!("add {options} for its debug information (build-id {id})")
                })
            }
            DebugProof::Link(name) => Some(format!(
                "add {} for its debug information, the file {name} of the same build",
                untried.to_debug_file(false, spelling)
            )),
            DebugProof::Nothing => None,
        }
    }

    /// Returns the reason that names are missing, and the advice to provide them.
    pub(super) fn for_names(&self, spelling: Spelling) -> String {
        let lack = match self.symbols {
            SymbolPresence::Stripped => "it has no symbols",
            SymbolPresence::Exported => "it has exported symbols only",
        };
        match (self.advice(spelling), self.packaged) {
            (Some(given), true) => format!("{lack}: {given}"),
            (Some(given), false) => format!("{lack}: {given}; or build it with -g"),
            (None, _) => format!("{lack} and no build-id: build it with -g"),
        }
    }
}
