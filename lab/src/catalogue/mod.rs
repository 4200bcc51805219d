//! Programs of many languages, compilers, linkers, C libraries and run-time compilers, with the commands that build and
//! run them. Tasks that need recordings of real programs share them.

mod deep;
mod record;
mod table;

pub(crate) use deep::DEEP;
pub(crate) use record::{Settings, record};
pub(crate) use table::CATALOGUE;

/// A program.
pub(crate) struct Program {
    /// Class of programs that it represents.
    pub(crate) class: &'static str,
    /// Its name in the table.
    pub(crate) name: &'static str,
    /// Command that it needs; the program is skipped if it is missing.
    pub(crate) tool: &'static str,
    /// Files of `testdata/programs`.
    sources: &'static [&'static str],
    /// Shell lines that build it; may be empty.
    build: &'static str,
    /// Command line, separated by blanks; it is stopped after some seconds.
    run: &'static str,
}
