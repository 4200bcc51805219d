//! Names of source files in debug information: absolute, or relative to a folder that the build did not state.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// Length of the longest name, in bytes. Source: `PATH_MAX` of Linux.
const LONGEST: usize = 4096;

/// Limit on the suffixes of a name, so that an untrusted name does not cost thousands of look-ups.
const MOST_PARTS: usize = 64;

/// The path of a process's current folder, which builds substitute for their own.
const CURRENT: [&[u8]; 3] = [b"proc", b"self", b"cwd"];

/// A name without `.`, `..` and empty parts, except `..` at the start of a relative name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SourceName<'n> {
    is_absolute: bool,
    parts: Vec<&'n [u8]>,
}

impl<'n> SourceName<'n> {
    /// Parses a name; `None` if it is too long to be a path.
    pub(super) fn new(name: &'n [u8]) -> Option<Self> {
        if name.len() > LONGEST {
            return None;
        }
        let is_absolute = name.starts_with(b"/");
        let mut parts: Vec<&[u8]> = Vec::new();
        for part in name.split(|&byte| byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." if parts.last().is_some_and(|&last| last != b"..") => drop(parts.pop()),
                b".." if is_absolute => {}
                part => parts.push(part),
            }
        }
        Some(Self { is_absolute, parts })
    }

    pub(super) const fn is_absolute(&self) -> bool {
        self.is_absolute
    }

    /// Returns the name, with a leading `./` if it is relative.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let up = self.parts.first() == Some(&&b".."[..]);
        let head: &[u8] = match (self.is_absolute, up) {
            (true, _) => b"/",
            (false, true) => b"",
            (false, false) => b"./",
        };
        [head, &self.parts.join(&b'/')].concat()
    }

    /// Returns the relative name for a name below `/proc/self/cwd`.
    pub(super) fn below_current_folder(&self) -> Option<Self> {
        let rest = self.parts.strip_prefix(&CURRENT).filter(|_| self.is_absolute)?;
        Some(Self { is_absolute: false, parts: rest.to_vec() })
    }

    /// Returns the rest after a prefix of whole parts; `None` if the name does not begin with it, or if nothing
    /// remains.
    pub(super) fn rest_after(&self, prefix: &[u8]) -> Option<PathBuf> {
        let prefix = SourceName::new(prefix)?;
        if prefix.is_absolute != self.is_absolute {
            return None;
        }
        let rest = self.parts.strip_prefix(prefix.parts.as_slice())?;
        let rest = without_parents(rest);
        (!rest.is_empty()).then(|| joined(rest))
    }

    /// Returns the suffixes of the name, longest first, without its root and leading `..`.
    pub(super) fn suffixes(&self) -> impl Iterator<Item = PathBuf> {
        let parts = without_parents(&self.parts);
        let first = parts.len().saturating_sub(MOST_PARTS);
        (first..parts.len()).map(|at| joined(parts.get(at..).unwrap_or_default()))
    }
}

/// Returns the parts after the leading `..`.
fn without_parents<'p, 'n>(parts: &'p [&'n [u8]]) -> &'p [&'n [u8]] {
    let n_up = parts.iter().take_while(|&&part| part == b"..").count();
    parts.get(n_up..).unwrap_or_default()
}

fn joined(parts: &[&[u8]]) -> PathBuf {
    parts.iter().map(|part| OsStr::from_bytes(part)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(name: &str) -> String {
        let name = SourceName::new(name.as_bytes()).expect("a short name");
        String::from_utf8_lossy(&name.to_bytes()).into_owned()
    }

    #[test]
    fn names_become_plain() {
        for (name, expected) in [
            ("/a/b.c", "/a/b.c"),
            ("//a///b.c", "/a/b.c"),
            ("/a/./b/../c.c", "/a/c.c"),
            ("/../../a.c", "/a.c"),
            ("a.c", "./a.c"),
            ("././a.c", "./a.c"),
            ("x/../a.c", "./a.c"),
            ("x/../../a.c", "../a.c"),
            ("../../a.c", "../../a.c"),
            ("", "./"),
            ("/", "/"),
        ] {
            assert_eq!(plain(name), expected, "{name}");
        }
        assert_eq!(SourceName::new(&[b'a'; LONGEST + 1]), None);
    }

    #[test]
    fn suffixes_lose_their_first_parts() {
        let of = |name: &str| {
            let name = SourceName::new(name.as_bytes()).expect("a short name");
            name.suffixes().map(|it| it.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(of("/a/b/c.c"), ["a/b/c.c", "b/c.c", "c.c"]);
        assert_eq!(of("../b/c.c"), ["b/c.c", "c.c"]);
        assert_eq!(of("/.."), Vec::<String>::new());
        assert_eq!(of(&"a/".repeat(1000)).len(), MOST_PARTS);
    }
}
