//! Source files, as far as they are at hand: of one function for the terminal, and for a page those of the functions that
//! cost most.

use std::path::{Path, PathBuf};

use formats::PageSource;
use host::{Host, Origin};
use profile::query::function_costs;
use profile::{Profile, StringId};

use crate::args::FileArgs;

/// Bytes of one file that are taken at most.
const MOST_OF_FILE: usize = 2 << 20;

/// Bytes of all files that are taken at most; a page is to stay one that can be sent.
const MOST: usize = 16 << 20;

/// What names of source files end with: debug information is as foreign as the recording, and nobody expects other
/// files of theirs in a page that they send.
const ENDINGS: &[&str] = &[
    "S", "adb", "ads", "asm", "c", "c++", "cc", "cpp", "cu", "cxx", "d", "def", "f", "f90", "go",
    "h", "h++", "hh", "hpp", "hs", "hxx", "inc", "inl", "ipp", "java", "jl", "js", "kt", "l", "m",
    "ml", "mm", "nim", "pas", "pl", "py", "rb", "rs", "s", "swift", "tcc", "ts", "y", "zig",
];

/// The texts of the source files of functions that were sampled, those of most samples first.
pub(super) fn sources(profile: &Profile, files: &FileArgs, host: &dyn Host) -> Vec<PageSource> {
    let mut seen: Vec<StringId> = Vec::new();
    let mut found: Vec<PageSource> = Vec::new();
    let mut left = MOST;
    for cost in function_costs(profile, true) {
        let Some(id) = cost.function.file.filter(|id| !seen.contains(id)) else { continue };
        seen.push(id);
        let name = profile.strings.get(id);
        if let Some(text) = text(name, files, host).filter(|text| text.len() <= left) {
            left -= text.len();
            found.push(PageSource { file: name.to_vec(), text });
        }
    }
    found
}

/// The text of a file, where it is found and is one.
fn text(name: &[u8], files: &FileArgs, host: &dyn Host) -> Option<Vec<u8>> {
    let name = std::str::from_utf8(name).ok()?;
    let path = Path::new(name);
    let ending = path.extension()?.to_str()?;
    if !path.is_absolute() || !ENDINGS.contains(&ending) {
        return None;
    }
    places(name, files).into_iter().find_map(|(root, place)| {
        let file = host.open(&place, Origin::Recording { root: &root }).ok()?;
        let bytes: &[u8] = &file.content;
        let is_text = bytes.len() <= MOST_OF_FILE && !bytes.contains(&0);
        is_text.then(|| bytes.to_vec())
    })
}

/// The text of a source file for people, where its name says, by the user's map of paths, or below a sysroot; `None` where
/// it is at none of these.
pub(super) fn source_text(name: &[u8], files: &FileArgs, host: &dyn Host) -> Option<String> {
    let name = std::str::from_utf8(name).ok().filter(|name| name.starts_with('/'))?;
    let read = |(root, place): (PathBuf, PathBuf)| {
        host.read(&place, Origin::Recording { root: &root }).ok()
    };
    let bytes = places(name, files).into_iter().find_map(read)?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Where a file may be, and the folder that its path must not leave: as the user maps paths, below each sysroot, else
/// where its name says.
fn places(name: &str, files: &FileArgs) -> Vec<(PathBuf, PathBuf)> {
    let mapped = files.path_map.iter().filter_map(|map| {
        let (from, to) = map.split_once('=')?;
        let rest = name.strip_prefix(from)?.trim_start_matches('/');
        Some((PathBuf::from(to), Path::new(to).join(rest)))
    });
    let below = files.sysroot.iter();
    let below = below.map(|root| (root.clone(), root.join(name.trim_start_matches('/'))));
    let here = files.sysroot.is_empty().then(|| (PathBuf::from("/"), PathBuf::from(name)));
    mapped.chain(below).chain(here).collect()
}

#[cfg(test)]
mod tests {
    use host::MemoryHost;

    use super::*;

    #[test]
    fn only_texts_of_sources_are_taken() {
        let machine = MemoryHost::new();
        machine.insert("/src/a.c", *b"int main;");
        machine.insert("/src/shadow", *b"secret");
        machine.insert("/src/b.c", *b"\0\x01");
        machine.insert("/copy/src/c.rs", *b"fn main() {}");
        let none = FileArgs::default();
        assert_eq!(text(b"/src/a.c", &none, &machine).as_deref(), Some(&b"int main;"[..]));
        for refused in [&b"/src/shadow"[..], b"/src/b.c", b"a.c", b"/src/none.c", b"/src/\xff.c"] {
            assert_eq!(text(refused, &none, &machine), None);
        }
        let sysroot = FileArgs { sysroot: vec!["/copy".into()], ..FileArgs::default() };
        assert!(text(b"/src/c.rs", &sysroot, &machine).is_some());
        assert_eq!(text(b"/src/a.c", &sysroot, &machine), None, "a sysroot has all files");
        let map = vec!["/build=/copy/src".to_owned()];
        let mapped = FileArgs { path_map: map, ..FileArgs::default() };
        assert!(text(b"/build/c.rs", &mapped, &machine).is_some());
    }

    #[test]
    fn sources_are_where_the_user_says() {
        let machine = MemoryHost::new();
        machine.insert("/src/a.c", *b"here");
        machine.insert("/moved/a.c", *b"moved");
        machine.insert("/root/src/a.c", *b"below");
        let files = |maps: &[&str], sysroots: &[&str]| FileArgs {
            path_map: maps.iter().map(|map| (*map).to_owned()).collect(),
            sysroot: sysroots.iter().map(PathBuf::from).collect(),
            ..FileArgs::default()
        };
        let found = |maps, sysroots| source_text(b"/src/a.c", &files(maps, sysroots), &machine);
        assert_eq!(found(&[], &[]).as_deref(), Some("here"));
        assert_eq!(found(&["/src=/moved"], &[]).as_deref(), Some("moved"));
        assert_eq!(found(&["/src=/none"], &[]).as_deref(), Some("here"), "the map leads nowhere");
        assert_eq!(found(&["/src=/moved"], &["/root"]).as_deref(), Some("moved"));
        assert_eq!(found(&["/other=/moved"], &["/root"]).as_deref(), Some("below"));
        assert_eq!(found(&[], &["/none"]), None, "a sysroot has all files");
        assert_eq!(source_text(b"a.c", &files(&[], &[]), &machine), None);
    }
}
