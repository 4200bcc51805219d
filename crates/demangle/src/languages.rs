//! Names of languages other than Rust and C++. Those of D, Fortran and OCaml are recognized by their form, which C
//! names do not have.
//! Those of Ada and Haskell are only recognized in files that are proven to contain these languages, since a name such
//! as `a__b` can also be from C.

use crate::{ada, d, fortran, haskell, ocaml};

/// Languages that a file is proven to contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Languages {
    /// Ada, as encoded by GNAT.
    pub ada: bool,
    /// Haskell, as encoded by GHC.
    pub haskell: bool,
}

impl Languages {
    /// All languages: any name in their form is decoded.
    pub const ALL: Self = Self { ada: true, haskell: true };
}

/// Returns true if the name has the form of a language that must be proven for its file.
#[must_use]
pub fn needs_proof(name: &str) -> bool {
    ada::readable(name).is_some() || haskell::readable(name).is_some()
}

/// Returns the readable form of a name; `None` if it is in none of these languages. `short` omits parameters, template
/// arguments and numbers.
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
