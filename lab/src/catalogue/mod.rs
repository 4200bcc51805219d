//! Programs of many languages, compilers, linkers, C libraries and run-time compilers: how each is built, and recorded.
//! Tasks that need recordings of real programs share them.

mod deep;
mod record;
mod table;

pub(crate) use deep::DEEP;
pub(crate) use record::{Settings, record};
pub(crate) use table::CATALOGUE;

/// A program.
pub(crate) struct Program {
    /// What it stands for.
    pub(crate) class: &'static str,
    /// Its name in the table.
    pub(crate) name: &'static str,
    /// The command without which it is skipped.
    pub(crate) tool: &'static str,
    /// Files of `testdata/programs`.
    sources: &'static [&'static str],
    /// Lines of a shell that build it; may be empty.
    build: &'static str,
    /// Its words, separated by blanks; it is stopped after some seconds.
    run: &'static str,
}
