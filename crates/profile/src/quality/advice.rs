//! Advice in the words of its reader.

use options::{Remedy, ShortRemedy, Spelling};

/// A remedy for people and for programs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Advice {
    /// A word for programs, such as `give-file`.
    pub code: &'static str,
    /// A sentence without a full stop, which names options as its reader writes them.
    pub text: String,
    /// The same for one line on a terminal.
    pub short: ShortRemedy,
}

impl Advice {
    /// A remedy for a reader who writes options so.
    #[must_use]
    pub fn new(remedy: &Remedy, spelling: Spelling) -> Self {
        Self { code: remedy.code(), text: remedy.sentence(spelling), short: remedy.short(spelling) }
    }
}
