//! The languages of a file's code, determined at the first name that depends on them. Searching the names of large
//! libraries is slow, and hardly any program needs it.

use std::sync::OnceLock;

use demangle::{Languages, needs_proof};
use memchr::memmem;

/// The languages that the names of a file's symbols prove.
#[derive(Debug, Default)]
pub(crate) struct Proof<'t> {
    /// The strings of its symbol tables.
    tables: Vec<&'t [u8]>,
    found: OnceLock<Languages>,
}

impl<'t> Proof<'t> {
    pub(crate) fn of(tables: impl IntoIterator<Item = &'t [u8]>) -> Self {
        Self { tables: tables.into_iter().collect(), found: OnceLock::new() }
    }

    /// Returns the languages of the file, if they matter for the readable form of this name.
    pub(crate) fn languages_for(&self, name: &str) -> Languages {
        if self.tables.is_empty() || !needs_proof(name) {
            return Languages::default();
        }
        *self.found.get_or_init(|| self.look())
    }

    /// Searches for functions of GNAT's or GHC's run-time system, which such a file defines or calls.
    fn look(&self) -> Languages {
        let has = |name: &[u8]| self.tables.iter().any(|table| memmem::find(table, name).is_some());
        Languages { ada: has(b"\0__gnat_"), haskell: has(b"\0stg_ap_") || has(b"\0stg_upd_frame") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_need_no_proof_are_not_looked_for() {
        let proof = Proof::of([&b"\0__gnat_malloc\0"[..]]);
        assert_eq!(proof.languages_for("_ZN3foo3barEv"), Languages::default());
        assert_eq!(proof.languages_for("memcpy"), Languages::default());
        assert_eq!(proof.found.get(), None);
        let ada = Languages { ada: true, haskell: false };
        assert_eq!(proof.languages_for("ada__text_io__put__2"), ada);
        assert_eq!(proof.found.get(), Some(&ada));
    }

    #[test]
    fn a_file_proves_its_languages_by_their_run_time_systems() {
        let haskell = Proof::of([&b"\0main\0"[..], &b"\0stg_upd_frame_info\0"[..]]);
        assert_eq!(
            haskell.languages_for("base_GHCziBase_map_info"),
            Languages { ada: false, haskell: true }
        );
        let c = Proof::of([&b"\0a__b\0"[..]]);
        assert_eq!(c.languages_for("a__b"), Languages::default());
        assert_eq!(Proof::default().languages_for("a__b"), Languages::default());
    }
}
