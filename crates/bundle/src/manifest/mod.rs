//! Manifest: description of a bundle, in its first entry.

mod absent_file;
mod requested_path;
mod search_options;
mod sha256;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

pub(crate) use options::Bytes;
use options::FileSearch;
use serde::{Deserialize, Serialize};

pub use self::absent_file::AbsentFile;
pub(crate) use self::requested_path::{Failure, Owner, PathAnswer, RequestedPath};
pub(crate) use self::search_options::SearchOptions;
pub(crate) use self::sha256::{Hasher, Sha256};
use crate::error::Error;

/// Name of the manifest's entry.
pub(crate) const NAME: &str = "manifest.json";
/// Value that identifies a manifest.
pub(crate) const FORMAT: &str = "unwind-perf-bundle";
/// Latest format version. Earlier ones are readable: version 1 has no links, versions 1 and 2 state the file options as
/// arguments of the command, and versions 1 to 3 have all files.
pub(crate) const VERSION: u32 = 4;
/// Version of a bundle with all its files.
pub(crate) const VERSION_WITH_FILES: u32 = 3;
/// Start of the names of entries with a build-id.
pub(crate) const BUILD_IDS: &str = ".build-id/";

/// Facts about a bundle other than the host's answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BundleFacts {
    /// Path of the recording.
    pub recording: PathBuf,
    /// Program that made the bundle, with its version.
    pub tool: String,
    /// Options for searching files.
    pub search: FileSearch,
    /// True if the recording contains stack copies, which are memory of the recorded processes.
    pub stacks: bool,
    /// True if names of the host are replaced by pseudonyms.
    pub anonymized: bool,
    /// SHA-256 of the JSON output of the run.
    pub json_sha256: Option<[u8; 32]>,
    /// True if files with a build-id are left out, since readers have a store of them.
    pub omits_files: bool,
}

/// Contents of a bundle.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    pub(crate) format: String,
    pub(crate) version: u32,
    pub(crate) tool: String,
    pub(crate) recording: Bytes,
    /// `whole` or `needed`.
    pub(crate) kept: String,
    pub(crate) stacks: bool,
    #[serde(default)]
    pub(crate) anonymized: bool,
    pub(crate) search: SearchOptions,
    pub(crate) json_sha256: Option<Sha256>,
    /// Requested environment variables.
    pub(crate) variables: BTreeMap<String, Option<Bytes>>,
    /// Index of the content that is the running kernel's vdso.
    pub(crate) vdso: Option<usize>,
    /// Remaining entries of the bundle, in order.
    pub(crate) contents: Vec<StoredContent>,
    /// Requested paths, sorted.
    pub(crate) places: Vec<RequestedPath>,
}

/// Stored file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredContent {
    /// Name of its entry.
    pub(crate) name: String,
    /// Size of the file in bytes, including holes.
    pub(crate) size: u64,
    /// SHA-256 of the stored bytes, concatenated.
    pub(crate) sha256: Sha256,
    /// Omitted ranges, sorted; empty if absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) holes: Vec<(u64, u64)>,
    /// True if the bundle does not contain the file: readers have it in a store. The SHA-256 is that of the whole file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) absent: bool,
}

impl StoredContent {
    /// Returns the stored ranges, sorted.
    pub(crate) fn stored_ranges(&self) -> Vec<Range<u64>> {
        if self.absent {
            return Vec::new();
        }
        let ends = self.holes.iter().map(|hole| hole.0).chain(std::iter::once(self.size));
        let starts = std::iter::once(0).chain(self.holes.iter().map(|hole| hole.1));
        starts.zip(ends).map(|(start, end)| start..end).filter(|it| !it.is_empty()).collect()
    }
}

impl Manifest {
    /// Returns the facts about the bundle.
    #[must_use]
    pub fn facts(&self) -> BundleFacts {
        BundleFacts {
            recording: self.recording.to_path(),
            tool: self.tool.clone(),
            search: self.search.0.clone(),
            stacks: self.stacks,
            anonymized: self.anonymized,
            json_sha256: self.json_sha256.map(|it| it.0),
            omits_files: self.omits_files(),
        }
    }

    /// Returns true if readers need a store of files by build-id.
    #[must_use]
    pub fn omits_files(&self) -> bool {
        self.contents.iter().any(|stored| stored.absent)
    }

    /// Returns the holes of the file at a path, sorted.
    pub(crate) fn holes_of(&self, path: &Path) -> Vec<(u64, u64)> {
        let path = Bytes::of_path(path);
        let at = self.places.iter().filter(|place| place.path == path);
        let stored = at.filter_map(RequestedPath::content).find_map(|at| self.contents.get(at));
        stored.map(|stored| stored.holes.clone()).unwrap_or_default()
    }

    /// Returns true if the format has links at the end.
    pub(crate) const fn has_links(&self) -> bool {
        self.version >= 2
    }

    /// Parses a manifest, and checks everything that does not depend on the other entries.
    ///
    /// # Errors
    /// If it is not a manifest, has an unsupported version, or contradicts itself.
    pub(crate) fn parse(json: &[u8]) -> Result<Self, Error> {
        /// Fields of every format version.
        #[derive(Deserialize)]
        struct Head {
            format: String,
            version: u32,
        }
        let Head { format, version } = serde_json::from_slice(json)?;
        if format != FORMAT {
            return Err(Error::invalid(format!("its format is not {FORMAT}")));
        }
        if !(1..=VERSION).contains(&version) {
            return Err(Error::Version { found: version, known: VERSION });
        }
        let manifest: Self = serde_json::from_slice(json)?;
        manifest.check()?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), Error> {
        /// A watched hole is a mapping; a process may have 65,530 of them.
        const MOST_HOLES: usize = 16 << 10;
        /// Folders and files that the user named. Each module is searched in all of them.
        const MOST_NAMED: usize = 256;
        let n_holes: usize = self.contents.iter().map(|stored| stored.holes.len()).sum();
        if n_holes > MOST_HOLES {
            return Err(Error::invalid(format!("its files have more than {MOST_HOLES} holes")));
        }
        if self.search.named() > MOST_NAMED {
            return Err(Error::invalid(format!(
                "it names more than {MOST_NAMED} folders and files"
            )));
        }
        for StoredContent { name, size, holes, absent, .. } in &self.contents {
            if !is_name(name) {
                return Err(Error::invalid(format!("{name:?} is no name of an entry")));
            }
            if *absent && !(name.starts_with(BUILD_IDS) && holes.is_empty()) {
                return Err(Error::invalid(format!("{name} cannot be absent")));
            }
            let mut last = 0;
            for &(from, to) in holes {
                if from < last || to <= from || to > *size {
                    return Err(Error::invalid(format!("the holes of {name} are out of order")));
                }
                last = to;
            }
        }
        let mut used = self.places.iter().filter_map(RequestedPath::content).chain(self.vdso);
        if used.any(|content| content >= self.contents.len()) {
            return Err(Error::invalid("it has no such content"));
        }
        Ok(())
    }
}

/// Returns true if `name` is a valid entry name: relative and of plain components, so that unpacking cannot write
/// elsewhere.
pub(crate) fn is_name(name: &str) -> bool {
    let is_plain = |part: &str| {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        !matches!(part, "" | "." | "..") && part.bytes().all(is_letter)
    };
    name.len() <= 100 && name != NAME && name.split('/').all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_nowhere_else() {
        for name in ["perf.data", "perf.data/data.0", ".build-id/ab/cdef/elf", "files/0a1b"] {
            assert!(is_name(name), "{name}");
        }
        let long = "a".repeat(101);
        for name in
            ["", "/etc/passwd", "../x", "a/../b", "a//b", "a/.", "a b", "manifest.json", &long]
        {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn what_is_kept_is_between_the_holes() {
        let sha256 = Sha256([0; 32]);
        let stored = |size, holes| StoredContent {
            name: "x".to_owned(),
            size,
            sha256,
            holes,
            absent: false,
        };
        assert_eq!(stored(9, vec![]).stored_ranges(), std::slice::from_ref(&(0..9)));
        assert_eq!(stored(9, vec![(0, 2), (4, 5)]).stored_ranges(), [2..4, 5..9]);
        assert_eq!(stored(9, vec![(0, 9)]).stored_ranges(), []);
        assert_eq!(stored(0, vec![]).stored_ranges(), []);
    }

    #[test]
    fn contradictions_are_errors() {
        let manifest = |version: u32, contents: &str, vdso: &str| {
            format!(
                r#"{{"format":"unwind-perf-bundle","version":{version},"tool":"t","recording":"r","kept":"whole",
                   "stacks":true,"search":[],"json_sha256":null,"variables":{{}},"vdso":{vdso},
                   "contents":[{contents}],"places":[]}}"#
            )
        };
        let sha = "0".repeat(64);
        let content = |name: &str, holes: &str| {
            format!(r#"{{"name":"{name}","size":9,"sha256":"{sha}","holes":{holes}}}"#)
        };
        let error =
            |json: String| Manifest::parse(json.as_bytes()).map(drop).map_err(|it| it.to_string());
        assert_eq!(error(manifest(1, &content("x", "[[0,4],[5,9]]"), "0")), Ok(()));
        let wrong = |what: &str| Err(format!("the manifest of the bundle is wrong: {what}"));
        assert_eq!(
            error(manifest(1, &content("x", "[[0,4],[3,9]]"), "null")),
            wrong("the holes of x are out of order")
        );
        assert_eq!(
            error(manifest(1, &content("x", "[[0,10]]"), "null")),
            wrong("the holes of x are out of order")
        );
        assert_eq!(
            error(manifest(1, &content("../x", "[]"), "null")),
            wrong(r#""../x" is no name of an entry"#)
        );
        assert_eq!(error(manifest(1, "", "0")), wrong("it has no such content"));
        assert_eq!(error(manifest(2, "", "null")), Ok(()));
        assert_eq!(error(manifest(3, "", "null")), Ok(()));
        assert_eq!(
            error(manifest(4, &content("x", r#"[],"absent":true"#), "null")),
            wrong("x cannot be absent")
        );
        assert_eq!(
            error(manifest(4, &content(".build-id/ab/cdef/elf", r#"[],"absent":true"#), "0")),
            Ok(())
        );
        for other in [0, 5] {
            let later = format!("the bundle has format version {other}; this program reads 1 to 4");
            assert_eq!(error(manifest(other, "", "null")), Err(later));
        }
        assert!(error("{}".to_owned()).is_err() && error("[".repeat(100_000)).is_err());
    }
}
