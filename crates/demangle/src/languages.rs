//! Names of languages other than Rust and C++: those of D, Fortran and OCaml by themselves, for no name of C is like
//! them; those of Ada and Haskell only in files that are proven to be of these languages, for a name such as `a__b` can
//! be of C, too.

use crate::{ada, d, fortran, haskell, ocaml};

/// Which languages a file is proven to have code of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Languages {
    /// Ada, as GNAT names it.
    pub ada: bool,
    /// Haskell, as GHC names it.
    pub haskell: bool,
}

impl Languages {
    /// All of them: any name that can be of one is taken for it.
    pub const ALL: Self = Self { ada: true, haskell: true };
}

/// Returns true if it can be a name of a language that its file has to be proven to have code of.
#[must_use]
pub fn needs_proof(name: &str) -> bool {
    ada::readable(name).is_some() || haskell::readable(name).is_some()
}

/// The readable form of a name; `None` where it is of none of these languages. `short` leaves parameters, template
/// arguments and numbers out.
pub(crate) fn readable(name: &str, languages: Languages, short: bool) -> Option<String> {
    match name.as_bytes() {
        [b'_', b'D', ..] => d::readable(name, short),
        [b'_', b'_', ..] | [b'_', b'Q', ..] => fortran::readable(name),
        [b'c', b'a', b'm', b'l', b'A'..=b'Z', ..] => ocaml::readable(name, short),
        _ => None,
    }
    .or_else(|| languages.ada.then(|| ada::readable(name))?)
    .or_else(|| languages.haskell.then(|| haskell::readable(name))?)
}
