//! Keys of answers and rules: contents of their source files,
//! options that change them, and versions of program and layout.

use std::fmt::Write as _;

use image_store::Image;
use sha2::{Digest as _, Sha256};
use symbolizer::{ANSWERS, SymbolSource, SymbolizeOptions};

use crate::layout::{RULES_VERSION, VERSION, checksum};

/// Key of a file's answers. Equal keys mean equal answers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CacheKey(pub(crate) [u8; Self::SIZE]);

impl CacheKey {
    pub(crate) const SIZE: usize = 32;

    /// Returns the key of a file with its present separate debug file and supplementary file:
    /// if one comes or goes, the key changes.
    /// Sections unpacked from the file itself are a part of it.
    ///
    /// `None` if nothing proves the contents.
    /// Also `None` if inlined functions are omitted, because the answer for an address can then depend on the others.
    #[must_use]
    pub fn of(source: &SymbolSource<'_>, options: &SymbolizeOptions<'_>) -> Option<Self> {
        let SymbolizeOptions { inlines: true, lines, demangle, budget, .. } = options else {
            return None;
        };
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

    /// Returns the key of the unwind rules that follow from a file alone; `version` is that of the rule maker.
    /// `None` if nothing proves the contents.
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

    /// Returns the key of a list of kernel symbols from the list's identity.
    #[must_use]
    pub fn of_kernel_list(identity: &[u8]) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"kernel");
        hash.update(VERSION.to_le_bytes());
        hash.update(ANSWERS.to_le_bytes());
        hash.update(identity);
        Self(hash.finalize().into())
    }

    /// Returns the key of a finished profile from all that identifies the recording, the options and the program, and
    /// from parts of the recording's content.
    #[must_use]
    pub fn of_profile(parts: &[&[u8]], content: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"profile");
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        // Most of the time of a small recording would be that of SHA-256.
        content.iter().for_each(|part| hash.update(checksum(part).to_le_bytes()));
        Self(hash.finalize().into())
    }

    /// Name of its cache file.
    pub(crate) fn name(&self, kind: CacheFileKind) -> String {
        let mut name = String::with_capacity(2 * Self::SIZE + kind.ending().len());
        for byte in self.0 {
            // Writing to a string cannot fail.
            let _ = write!(name, "{byte:02x}");
        }
        name + kind.ending()
    }

    /// Returns the kind of contents of a file with the name of a key.
    pub(crate) fn kind_of(name: &str) -> Option<CacheFileKind> {
        let (digits, kind) = CacheFileKind::ALL
            .into_iter()
            .find_map(|kind| Some((name.strip_suffix(kind.ending())?, kind)))?;
        let are_digits = digits.len() == 2 * Self::SIZE
            && digits.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
        are_digits.then_some(kind)
    }
}

/// Contents of a cache file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CacheFileKind {
    /// Answers for addresses of a file, or functions of the kernel.
    Answers,
    /// Unwind rules of a file.
    Rules,
    /// Index of a list of kernel symbols.
    KernelIndex,
    /// Finished profile of a recording.
    Profile,
}

impl CacheFileKind {
    pub(crate) const ALL: [Self; 4] =
        [Self::Answers, Self::Rules, Self::KernelIndex, Self::Profile];

    /// Suffix of the file names.
    const fn ending(self) -> &'static str {
        match self {
            Self::Answers => ".answers",
            Self::Rules => ".rules",
            Self::KernelIndex => ".kernel",
            Self::Profile => ".profile",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_again() {
        let key = CacheKey([0xa5; CacheKey::SIZE]);
        for (kind, ending) in
            CacheFileKind::ALL.into_iter().zip(["answers", "rules", "kernel", "profile"])
        {
            let name = key.name(kind);
            assert_eq!(name, format!("{}.{ending}", "a5".repeat(32)));
            assert_eq!(CacheKey::kind_of(&name), Some(kind));
            assert_eq!(CacheKey::kind_of(&name.to_uppercase()), None);
        }
        for other in ["", ".rules", "x.answers", "CACHEDIR.TAG"] {
            assert_eq!(CacheKey::kind_of(other), None, "{other}");
        }
    }
}
