//! Names of languages other than Rust and C++: those of D, Fortran and OCaml by themselves, for no name of C is like
//! them; those of Ada and Haskell only in files that are proven to be of these languages, for a name such as `a__b` can
//! be of C, too.

mod ada;
mod d;
mod fortran;
mod haskell;
mod ocaml;

use memchr::memmem;

/// Which languages a file is proven to have code of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Languages {
    ada: bool,
    haskell: bool,
}

impl Languages {
    /// All of them: any name that can be of one is taken for it.
    pub const ALL: Self = Self { ada: true, haskell: true };

    /// What the names of a file's symbols prove, which are in these tables of strings: it has, or calls, functions of
    /// GNAT's or GHC's run-time system.
    pub(crate) fn of<'s>(strings: impl IntoIterator<Item = &'s [u8]>) -> Self {
        let mut found = Self::default();
        for table in strings {
            found.ada |= memmem::find(table, b"\0__gnat_").is_some();
            found.haskell |= memmem::find(table, b"\0stg_ap_").is_some()
                || memmem::find(table, b"\0stg_upd_frame").is_some();
        }
        found
    }
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

/// What compilers add to the names of copies, as it is shown: ` [clone .cold]`.
fn clone_of(copy: &str) -> String {
    if copy.is_empty() { String::new() } else { format!(" [clone {copy}]") }
}
