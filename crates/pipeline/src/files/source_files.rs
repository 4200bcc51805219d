//! Source files, as far as they are at hand: where debug information says, by the user's map of paths, or below a sysroot.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use host::{Host, Origin};
use options::FileSearch;

/// Bytes of one file that are taken at most, where it is not for the user alone.
const MOST_OF_FILE: usize = 2 << 20;

/// What names of source files end with: debug information is as foreign as the recording, and nobody expects other
/// files of theirs in a page that they send.
const ENDINGS: &[&str] = &[
    "S", "adb", "ads", "asm", "c", "c++", "cc", "cpp", "cu", "cxx", "d", "def", "f", "f90", "go",
    "h", "h++", "hh", "hpp", "hs", "hxx", "inc", "inl", "ipp", "java", "jl", "js", "kt", "l", "m",
    "ml", "mm", "nim", "pas", "pl", "py", "rb", "rs", "s", "swift", "tcc", "ts", "y", "zig",
];

/// The source files of a machine.
#[derive(Debug)]
pub struct SourceFiles<'a> {
    search: &'a FileSearch,
    host: &'a dyn Host,
}

impl<'a> SourceFiles<'a> {
    /// Searches where the options of a run say.
    #[must_use]
    pub const fn new(search: &'a FileSearch, host: &'a dyn Host) -> Self {
        Self { search, host }
    }

    /// The bytes of a source file, for the user alone; `None` where it is at none of the places that it may be at.
    #[must_use]
    pub fn text(&self, name: &[u8]) -> Option<Vec<u8>> {
        let name = std::str::from_utf8(name).ok().filter(|name| name.starts_with('/'))?;
        let read = |(root, place): (PathBuf, PathBuf)| {
            self.host.read(&place, Origin::Recording { root: &root }).ok()
        };
        self.places(name).into_iter().find_map(read)
    }

    /// The same for others to see: only texts with the endings of sources, of 2 MiB at most.
    #[must_use]
    pub fn text_to_show(&self, name: &[u8]) -> Option<Vec<u8>> {
        let name = std::str::from_utf8(name).ok()?;
        let path = Path::new(name);
        let ending = path.extension()?.to_str()?;
        if !path.is_absolute() || !ENDINGS.contains(&ending) {
            return None;
        }
        self.places(name).into_iter().find_map(|(root, place)| {
            let file = self.host.open(&place, Origin::Recording { root: &root }).ok()?;
            let bytes: &[u8] = &file.content;
            let is_text = bytes.len() <= MOST_OF_FILE && !bytes.contains(&0);
            is_text.then(|| bytes.to_vec())
        })
    }

    /// Where a file may be, and the folder that its path must not leave: as the user maps paths, below each sysroot, else
    /// where its name says.
    fn places(&self, name: &str) -> Vec<(PathBuf, PathBuf)> {
        let mapped = self.search.path_map.iter().filter_map(|(from, to)| {
            let rest = name.strip_prefix(std::str::from_utf8(from).ok()?)?;
            let rest = rest.trim_start_matches('/');
            let to = PathBuf::from(OsStr::from_bytes(to));
            Some((to.clone(), to.join(rest)))
        });
        let below = self.search.sysroots.iter();
        let below = below.map(|root| (root.clone(), root.join(name.trim_start_matches('/'))));
        let here =
            self.search.sysroots.is_empty().then(|| (PathBuf::from("/"), PathBuf::from(name)));
        mapped.chain(below).chain(here).collect()
    }
}

#[cfg(test)]
mod tests {
    use host::MemoryHost;

    use super::*;

    fn search(maps: &[(&str, &str)], sysroots: &[&str]) -> FileSearch {
        let bytes = |text: &str| text.as_bytes().to_vec();
        FileSearch {
            path_map: maps.iter().map(|(from, to)| (bytes(from), bytes(to))).collect(),
            sysroots: sysroots.iter().map(PathBuf::from).collect(),
            ..FileSearch::default()
        }
    }

    #[test]
    fn only_texts_of_sources_are_shown_to_others() {
        let machine = MemoryHost::new();
        machine.insert("/src/a.c", *b"int main;");
        machine.insert("/src/shadow", *b"secret");
        machine.insert("/src/b.c", *b"\0\x01");
        machine.insert("/copy/src/c.rs", *b"fn main() {}");
        let none = search(&[], &[]);
        assert_eq!(
            SourceFiles::new(&none, &machine).text_to_show(b"/src/a.c").as_deref(),
            Some(&b"int main;"[..])
        );
        for refused in [&b"/src/shadow"[..], b"/src/b.c", b"a.c", b"/src/none.c", b"/src/\xff.c"] {
            assert_eq!(SourceFiles::new(&none, &machine).text_to_show(refused), None);
        }
        let sysroot = search(&[], &["/copy"]);
        assert!(SourceFiles::new(&sysroot, &machine).text_to_show(b"/src/c.rs").is_some());
        assert_eq!(
            SourceFiles::new(&sysroot, &machine).text_to_show(b"/src/a.c"),
            None,
            "a sysroot has all files"
        );
        let mapped = search(&[("/build", "/copy/src")], &[]);
        assert!(SourceFiles::new(&mapped, &machine).text_to_show(b"/build/c.rs").is_some());
    }

    #[test]
    fn sources_are_where_the_user_says() {
        let machine = MemoryHost::new();
        machine.insert("/src/a.c", *b"here");
        machine.insert("/moved/a.c", *b"moved");
        machine.insert("/copy/src/a.c", *b"below");
        let found = |maps: &[(&str, &str)], sysroots: &[&str]| {
            let bytes = SourceFiles::new(&search(maps, sysroots), &machine).text(b"/src/a.c")?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        assert_eq!(found(&[], &[]).as_deref(), Some("here"));
        assert_eq!(found(&[("/src", "/moved")], &[]).as_deref(), Some("moved"));
        assert_eq!(found(&[("/src", "/none")], &[]).as_deref(), Some("here"), "it leads nowhere");
        assert_eq!(found(&[("/src", "/moved")], &["/copy"]).as_deref(), Some("moved"));
        assert_eq!(found(&[("/other", "/moved")], &["/copy"]).as_deref(), Some("below"));
        assert_eq!(found(&[], &["/none"]), None, "a sysroot has all files");
        assert_eq!(SourceFiles::new(&search(&[], &[]), &machine).text(b"a.c"), None);
    }
}
