//! What answers and rules are kept under: the contents of the files that they come from, the options that change them, and the
//! versions of the program and of the layout.

use std::fmt::Write as _;

use image_store::Image;
use sha2::{Digest as _, Sha256};
use symbolizer::{ANSWERS, Options, SymbolSource};

use crate::layout::{RULES_VERSION, VERSION};

/// What the answers of a file are kept under. Equal keys mean equal answers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Key(pub(crate) [u8; Self::SIZE]);

impl Key {
    pub(crate) const SIZE: usize = 32;

    /// The key of a file with its separate debug file and its supplementary file, as they were found now: where one comes or
    /// goes, that is another key. What is unpacked of the file itself is a part of it.
    ///
    /// `None` where nothing proves which contents they are, and where inlined functions are left out: then what an
    /// address is answered can depend on the others.
    #[must_use]
    pub fn of(source: &SymbolSource<'_>, options: &Options<'_>) -> Option<Self> {
        let Options { inlines: true, lines, demangle, budget, .. } = options else { return None };
        let mut hash = Sha256::new();
        let mut part = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        part(&VERSION.to_le_bytes());
        part(&ANSWERS.to_le_bytes());
        part(env!("CARGO_PKG_VERSION").as_bytes());
        part(format!("{lines} {demangle:?} {budget:?}").as_bytes());
        for image in [Some(source.image), source.debug, source.alt] {
            match image {
                None => part(&[]),
                Some(image) => part(&image.identity()?),
            }
        }
        Some(Self(hash.finalize().into()))
    }

    /// The key of the unwind rules of a file that follow from it alone, by the version of what makes them. `None` where
    /// nothing proves which contents it has.
    #[must_use]
    pub fn of_rules(image: &Image, version: u32) -> Option<Self> {
        let mut hash = Sha256::new();
        hash.update(b"rules");
        hash.update(RULES_VERSION.to_le_bytes());
        hash.update(version.to_le_bytes());
        hash.update(env!("CARGO_PKG_VERSION"));
        hash.update(image.identity()?);
        Some(Self(hash.finalize().into()))
    }

    /// The key of a list of the kernel's symbols, by what says that it is the same.
    #[must_use]
    pub fn of_kernel_list(identity: &[u8]) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"kernel");
        hash.update(VERSION.to_le_bytes());
        hash.update(ANSWERS.to_le_bytes());
        hash.update(identity);
        Self(hash.finalize().into())
    }

    /// The name of its file.
    pub(crate) fn name(&self, kind: Kind) -> String {
        let mut name = String::with_capacity(2 * Self::SIZE + kind.ending().len());
        for byte in self.0 {
            // A string takes everything.
            let _ = write!(name, "{byte:02x}");
        }
        name + kind.ending()
    }

    /// What a file has whose name is that of a key.
    pub(crate) fn kind_of(name: &str) -> Option<Kind> {
        let (digits, kind) = [Kind::Answers, Kind::Rules]
            .into_iter()
            .find_map(|kind| Some((name.strip_suffix(kind.ending())?, kind)))?;
        let are_digits = digits.len() == 2 * Self::SIZE
            && digits.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
        are_digits.then_some(kind)
    }
}

/// What a file of the folder has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Answers to addresses of a file, or functions of the kernel.
    Answers,
    /// Unwind rules of a file.
    Rules,
}

impl Kind {
    /// How the names of such files end.
    const fn ending(self) -> &'static str {
        match self {
            Self::Answers => ".answers",
            Self::Rules => ".rules",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_again() {
        let key = Key([0xa5; Key::SIZE]);
        for (kind, ending) in [(Kind::Answers, "answers"), (Kind::Rules, "rules")] {
            let name = key.name(kind);
            assert_eq!(name, format!("{}.{ending}", "a5".repeat(32)));
            assert_eq!(Key::kind_of(&name), Some(kind));
            assert_eq!(Key::kind_of(&name.to_uppercase()), None);
        }
        for other in ["", ".rules", "x.answers", "CACHEDIR.TAG"] {
            assert_eq!(Key::kind_of(other), None, "{other}");
        }
    }
}
