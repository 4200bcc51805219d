//! Source files: below folders that the user named, below a sysroot, or at the recorded path.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use host::{Host, HostFile, Origin};
use options::FileSearch;

use super::source_name::SourceName;

/// Limit on the bytes of a file that is shown to others.
const MOST_OF_FILE: usize = 2 << 20;

/// File name extensions of sources. Debug information is untrusted, and users do not expect a page that they share to
/// include other files of theirs.
const ENDINGS: &[&str] = &[
    "S", "adb", "ads", "asm", "c", "c++", "cc", "cpp", "cu", "cxx", "d", "def", "f", "f90", "go",
    "h", "h++", "hh", "hpp", "hs", "hxx", "inc", "inl", "ipp", "java", "jl", "js", "kt", "l", "m",
    "ml", "mm", "nim", "pas", "pl", "py", "rb", "rs", "s", "swift", "tcc", "ts", "y", "zig",
];

/// The current folder.
const HERE: &str = ".";

/// The source files of a host, by their names in debug information.
#[derive(Debug)]
pub struct SourceFiles<'a> {
    search: &'a FileSearch,
    host: &'a dyn Host,
    /// The user's host, if `host` is another one.
    local: Option<&'a dyn Host>,
}

/// A candidate path of a source file.
#[derive(Debug, PartialEq, Eq)]
struct CandidatePath {
    path: PathBuf,
    /// The folder that the path must not leave.
    root: PathBuf,
    /// True if the folder is on the user's own host.
    is_local: bool,
}

impl<'a> SourceFiles<'a> {
    /// Searches a host by the options of a run.
    #[must_use]
    pub const fn new(search: &'a FileSearch, host: &'a dyn Host) -> Self {
        Self { search, host, local: None }
    }

    /// Searches a bundle, which is `host`, and the folders of [`source_dirs`](FileSearch::source_dirs) on the user's
    /// host `local`. The current folder is not searched.
    #[must_use]
    pub const fn of_bundle(
        search: &'a FileSearch,
        host: &'a dyn Host,
        local: &'a dyn Host,
    ) -> Self {
        Self { search, host, local: Some(local) }
    }

    /// Returns the content of a source file, for the user alone; `None` if it is not found.
    #[must_use]
    pub fn text(&self, name: &[u8]) -> Option<Vec<u8>> {
        let read = |candidate: CandidatePath| {
            let origin = Origin::Recording { root: &candidate.root };
            self.host_of(&candidate).read(&candidate.path, origin).ok()
        };
        self.candidates(name).into_iter().find_map(read)
    }

    /// Like [`Self::text`], for output that others see: only texts of at most 2 MiB with an extension of sources.
    #[must_use]
    pub fn text_to_show(&self, name: &[u8]) -> Option<Vec<u8>> {
        if !is_source(name) {
            return None;
        }
        self.candidates(name).into_iter().find_map(|candidate| {
            let origin = Origin::Recording { root: &candidate.root };
            let file = self.host_of(&candidate).open(&candidate.path, origin).ok()?;
            text_of(&file)
        })
    }

    /// Opens a source file for other programs, as [`Self::text_to_show`] finds it, only below folders that the user named:
    /// source folders, sysroots, and replacements of the path map.
    #[must_use]
    pub fn open_named(&self, name: &[u8]) -> Option<(File, PathBuf)> {
        if !is_source(name) {
            return None;
        }
        let FileSearch { source_dirs, sysroots, path_map, .. } = self.search;
        let is_target = |root: &Path| {
            let mut targets = path_map.iter().map(|(_, to)| Path::new(OsStr::from_bytes(to)));
            targets.any(|to| to == root)
        };
        let mut candidates = self.candidates(name).into_iter();
        candidates.find_map(|CandidatePath { path, root, .. }| {
            if !(source_dirs.contains(&root) || sysroots.contains(&root) || is_target(&root)) {
                return None;
            }
            let file = self.host.descriptor(&path, Origin::Recording { root: &root }).ok()?;
            // The bytes are those of the descriptor, whatever is at the path later.
            text_of(&HostFile::of(&path, &file).ok()?)?;
            Some((file, path))
        })
    }

    /// Like [`Self::text_to_show`], only for a file below the directory in which it was compiled. Both paths are those
    /// of the recording, or of the user's path map; the folders of [`source_dirs`](FileSearch::source_dirs) and the
    /// current folder are not searched.
    #[must_use]
    pub fn text_below(&self, name: &[u8], compile_dir: &[u8]) -> Option<Vec<u8>> {
        if !is_source(name) {
            return None;
        }
        let folders = self.folders(compile_dir);
        self.fixed_candidates(name).find_map(|candidate| {
            let open = |folder: &PathBuf| self.host.open_below(folder, &candidate.path).ok();
            text_of(&folders.iter().find_map(open)?)
        })
    }

    /// Returns whether [`Self::text_below`] can have a text, so that nothing needs to know the directory if not.
    #[must_use]
    pub fn may_be_below(&self, name: &[u8]) -> bool {
        let exists = |candidate: CandidatePath| {
            let origin = Origin::Recording { root: &candidate.root };
            self.host.is_file(&candidate.path, origin)
        };
        is_source(name) && self.fixed_candidates(name).any(exists)
    }

    /// Returns a name for messages: without `.`, `..` and `//`, and with a leading `./` if it is relative to the
    /// current folder.
    #[must_use]
    pub fn plain_name(name: &[u8]) -> Vec<u8> {
        let Some(plain) = SourceName::new(name) else { return name.to_vec() };
        plain.below_current_folder().unwrap_or(plain).to_bytes()
    }

    fn host_of(&self, candidate: &CandidatePath) -> &'a dyn Host {
        self.local.filter(|_| candidate.is_local).unwrap_or(self.host)
    }

    /// Returns the candidate paths that are not below a folder of the user's choice.
    fn fixed_candidates(&self, name: &[u8]) -> impl Iterator<Item = CandidatePath> {
        self.candidates(name).into_iter().filter(|candidate| !candidate.is_local)
    }

    /// Returns the paths of a recorded folder: those that the user's path map gives, then the recorded one.
    fn folders(&self, name: &[u8]) -> Vec<PathBuf> {
        let Some(plain) = SourceName::new(name) else { return Vec::new() };
        let mapped = self.search.path_map.iter().filter_map(|(from, to)| {
            let to = Path::new(OsStr::from_bytes(to));
            if SourceName::new(from).as_ref() == Some(&plain) {
                return Some(to.to_owned());
            }
            Some(to.join(plain.rest_after(from)?))
        });
        let recorded = Path::new(OsStr::from_bytes(name)).to_owned();
        let is_here = !plain.is_absolute() || plain.below_current_folder().is_some();
        mapped.chain(Some(recorded).filter(|_| !is_here)).collect()
    }

    /// Returns the candidate paths of a file in search order: the path that the user's path map gives, then the
    /// recorded path, in each sysroot if there is one.
    /// Suffixes below the source folders follow, and for a relative name the current folder.
    fn candidates(&self, name: &[u8]) -> Vec<CandidatePath> {
        let Some(plain) = SourceName::new(name) else { return Vec::new() };
        // `/proc/self/cwd` as the build's working directory stands for the current folder.
        let relative = plain.below_current_folder();
        let forms = || std::iter::once(&plain).chain(&relative);
        let mut candidates = Vec::new();
        for (from, to) in &self.search.path_map {
            let to = if to.is_empty() { HERE.as_bytes() } else { to };
            let to = Path::new(OsStr::from_bytes(to));
            for rest in forms().filter_map(|form| form.rest_after(from)) {
                candidates.push(CandidatePath::below(to, &rest, false));
            }
        }
        if plain.is_absolute() && relative.is_none() {
            self.add_recorded(name, &plain, &mut candidates);
        }
        let last = relative.as_ref().unwrap_or(&plain);
        for folder in &self.search.source_dirs {
            candidates
                .extend(last.suffixes().map(|suffix| CandidatePath::below(folder, &suffix, true)));
        }
        let is_here = self.search.sysroots.is_empty() && self.local.is_none();
        if is_here && let Some(whole) = last.suffixes().next().filter(|_| !last.is_absolute()) {
            candidates.push(CandidatePath::below(Path::new(HERE), &whole, true));
        }
        candidates
    }

    /// Adds an absolute path as recorded, for the file system to resolve, then without `..`: folders of the build may
    /// be missing.
    fn add_recorded(
        &self,
        name: &[u8],
        plain: &SourceName<'_>,
        candidates: &mut Vec<CandidatePath>,
    ) {
        let mut roots: Vec<&Path> = self.search.sysroots.iter().map(PathBuf::as_path).collect();
        if roots.is_empty() {
            roots.push(Path::new("/"));
        }
        let recorded = Path::new(OsStr::from_bytes(name));
        let recorded = recorded.strip_prefix("/").unwrap_or(recorded);
        for root in roots {
            let as_it_is =
                CandidatePath { path: root.join(recorded), root: root.to_owned(), is_local: false };
            let plain =
                plain.suffixes().next().map(|whole| CandidatePath::below(root, &whole, false));
            let plain = plain.filter(|plain| plain.path.as_os_str() != as_it_is.path.as_os_str());
            candidates.push(as_it_is);
            candidates.extend(plain);
        }
    }
}

/// Returns true if a file is named like a source.
fn is_source(name: &[u8]) -> bool {
    let ending = Path::new(OsStr::from_bytes(name)).extension().and_then(OsStr::to_str);
    ending.is_some_and(|ending| ENDINGS.contains(&ending))
}

/// Returns the content of a file, if it is a text of at most 2 MiB.
fn text_of(file: &HostFile) -> Option<Vec<u8>> {
    let bytes: &[u8] = &file.content;
    let is_text = bytes.len() <= MOST_OF_FILE && !bytes.contains(&0);
    is_text.then(|| bytes.to_vec())
}

impl CandidatePath {
    fn below(root: &Path, path: &Path, is_local: bool) -> Self {
        Self { path: root.join(path), root: root.to_owned(), is_local }
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

    /// A host with files that contain their own paths.
    fn machine(paths: &[&str]) -> MemoryHost {
        let machine = MemoryHost::new();
        for path in paths {
            machine.insert(path, path.as_bytes().to_vec());
        }
        machine
    }

    fn found(search: &FileSearch, name: &str, machine: &MemoryHost) -> Option<String> {
        let bytes = SourceFiles::new(search, machine).text(name.as_bytes())?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    #[test]
    fn only_texts_of_sources_are_shown_to_others() {
        let machine = MemoryHost::new();
        machine.insert("/src/a.c", *b"int main;");
        machine.insert("/src/shadow", *b"secret");
        machine.insert("/src/b.c", *b"\0\x01");
        machine.insert("/copy/src/c.rs", *b"fn main() {}");
        machine.insert("./here.c", *b"int here;");
        let none = search(&[], &[]);
        let shown = |search: &FileSearch, name: &[u8]| {
            SourceFiles::new(search, &machine).text_to_show(name).is_some()
        };
        assert!(shown(&none, b"/src/a.c") && shown(&none, b"./here.c") && shown(&none, b"here.c"));
        for refused in [&b"/src/shadow"[..], b"/src/b.c", b"a.c", b"/src/none.c", b"/src/\xff.c"] {
            assert!(!shown(&none, refused));
        }
        let sysroot = search(&[], &["/copy"]);
        assert!(shown(&sysroot, b"/src/c.rs"));
        assert!(!shown(&sysroot, b"/src/a.c"), "a sysroot has all files");
        assert!(!shown(&sysroot, b"here.c"), "the current folder is outside of the sysroot");
        assert!(shown(&search(&[("/build", "/copy/src")], &[]), b"/build/c.rs"));
        let dir = FileSearch { source_dirs: vec!["/src".into()], ..search(&[], &[]) };
        assert!(shown(&dir, b"./a.c") && !shown(&dir, b"./shadow"));
    }

    #[test]
    fn files_below_their_compile_directory() {
        let machine =
            machine(&["/project/a.c", "/project/notes", "/usr/include/b.h", "/moved/x/a.c"]);
        let below = |search: &FileSearch, name: &str, dir: &str| {
            let files = SourceFiles::new(search, &machine);
            let text = files.text_below(name.as_bytes(), dir.as_bytes());
            assert!(text.is_none() || files.may_be_below(name.as_bytes()), "{name}");
            text.map(|text| String::from_utf8_lossy(&text).into_owned())
        };
        let none = search(&[], &[]);
        for name in ["/project/a.c", "/project/none/../a.c", "/project//./a.c"] {
            assert_eq!(below(&none, name, "/project").as_deref(), Some("/project/a.c"), "{name}");
        }
        for (name, dir) in [
            ("/usr/include/b.h", "/project"),
            ("/project/../usr/include/b.h", "/project"),
            ("/project/a.c", "/proj"),
            ("/project/a.c", "/"),
            ("/project/a.c", ""),
            ("/project/a.c", "."),
            ("/project/notes", "/project"),
            ("./project/a.c", "."),
            ("/project/a.c", "/proc/self/cwd"),
        ] {
            assert_eq!(below(&none, name, dir), None, "{name} {dir}");
        }
        let dirs = FileSearch { source_dirs: vec!["/project".into()], ..search(&[], &[]) };
        assert_eq!(below(&dirs, "/gone/a.c", "/gone"), None, "only the recorded path");
        for (from, name, dir) in [
            ("/build", "/build/x/a.c", "/build"),
            ("/build", "/build/x/a.c", "/build/x"),
            (".", "./x/a.c", "."),
        ] {
            let map = search(&[(from, "/moved")], &[]);
            assert_eq!(below(&map, name, dir).as_deref(), Some("/moved/x/a.c"), "{from} {dir}");
            assert_eq!(below(&map, name, "/other"), None, "{from}");
        }
    }

    #[test]
    fn sources_are_where_the_user_says() {
        let machine = machine(&["/src/a.c", "/moved/a.c", "/copy/src/a.c"]);
        let found = |maps: &[(&str, &str)], sysroots: &[&str]| {
            found(&search(maps, sysroots), "/src/a.c", &machine)
        };
        assert_eq!(found(&[], &[]).as_deref(), Some("/src/a.c"));
        assert_eq!(found(&[("/src", "/moved")], &[]).as_deref(), Some("/moved/a.c"));
        assert_eq!(found(&[("/src", "/none")], &[]).as_deref(), Some("/src/a.c"));
        assert_eq!(found(&[("/sr", "/moved")], &[]).as_deref(), Some("/src/a.c"), "a whole part");
        assert_eq!(found(&[("/src", "/moved")], &["/copy"]).as_deref(), Some("/moved/a.c"));
        assert_eq!(found(&[("/other", "/moved")], &["/copy"]).as_deref(), Some("/copy/src/a.c"));
        assert_eq!(found(&[], &["/none"]), None, "a sysroot has all files");
    }

    #[test]
    fn names_are_plain_before_they_are_mapped() {
        let machine = machine(&["/src/lib/a.c", "/x/a.c", "./rel/a.c", "./a.c"]);
        let found = |maps: &[(&str, &str)], name: &str| found(&search(maps, &[]), name, &machine);
        for name in ["/b/lib/a.c", "/b//lib/./a.c", "/b/obj/../lib/a.c", "//b/lib/a.c"] {
            for from in ["/b", "/b/", "/b/.", "/b/x/.."] {
                assert_eq!(
                    found(&[(from, "/src")], name).as_deref(),
                    Some("/src/lib/a.c"),
                    "{name}"
                );
            }
        }
        for name in ["lib/a.c", "./lib/a.c", "././lib/a.c", "x/../lib/a.c"] {
            for from in [".", "./", "././"] {
                assert_eq!(
                    found(&[(from, "/src")], name).as_deref(),
                    Some("/src/lib/a.c"),
                    "{name}"
                );
            }
            assert_eq!(found(&[("lib", "/x")], name).as_deref(), Some("/x/a.c"));
            assert_eq!(found(&[("li", "/x"), ("/", "/x"), ("/lib", "/x")], name), None);
        }
        assert_eq!(found(&[("..", "/x")], "../a.c").as_deref(), Some("/x/a.c"));
        // A mapped name may be relative, and may be empty.
        assert_eq!(found(&[("/b", "./rel")], "/b/a.c").as_deref(), Some("./rel/a.c"));
        assert_eq!(found(&[("/b", "")], "/b/a.c").as_deref(), Some("./a.c"));
        // The first folder of the recorded path no longer exists.
        assert_eq!(found(&[], "/gone/../x/a.c").as_deref(), Some("/x/a.c"));
    }

    #[test]
    fn folders_of_sources_are_searched_for_the_longest_suffix() {
        let machine = machine(&["/s/b/a.c", "/s/a.c", "/t/x/b/a.c", "/x/b/a.c", "./b/a.c"]);
        let found = |dirs: &[&str], sysroots: &[&str], name: &str| {
            let source_dirs = dirs.iter().map(PathBuf::from).collect();
            found(&FileSearch { source_dirs, ..search(&[], sysroots) }, name, &machine)
        };
        assert_eq!(found(&["/s"], &[], "b/a.c").as_deref(), Some("/s/b/a.c"));
        assert_eq!(found(&["/s"], &[], "/gone/b/a.c").as_deref(), Some("/s/b/a.c"));
        assert_eq!(found(&["/s"], &[], "/gone/c/a.c").as_deref(), Some("/s/a.c"));
        assert_eq!(found(&["/none", "/t"], &[], "../x/b/a.c").as_deref(), Some("/t/x/b/a.c"));
        assert_eq!(found(&["/s"], &[], "/x/b/a.c").as_deref(), Some("/x/b/a.c"), "where it was");
        assert_eq!(found(&["/s"], &["/none"], "/x/b/a.c").as_deref(), Some("/s/b/a.c"));
        assert_eq!(found(&[], &[], "b/a.c").as_deref(), Some("./b/a.c"));
        assert_eq!(found(&[], &["/none"], "b/a.c"), None, "it is outside of the sysroot");
        assert_eq!(found(&[], &[], "/proc/self/cwd/b/a.c").as_deref(), Some("./b/a.c"));
        assert_eq!(found(&["/s"], &[], "/proc/self/cwd/b/a.c").as_deref(), Some("/s/b/a.c"));
        for name in ["", ".", "/", "..", "/..", "b/", "a.c/.."] {
            assert_eq!(found(&["/s"], &[], name), None, "{name}");
        }
    }

    #[test]
    fn messages_have_plain_names() {
        for (name, expected) in [
            ("././a.c", "./a.c"),
            ("/b/../a.c", "/a.c"),
            ("/proc/self/cwd/b/../a.c", "./a.c"),
            ("../a.c", "../a.c"),
        ] {
            assert_eq!(SourceFiles::plain_name(name.as_bytes()), expected.as_bytes());
        }
    }

    #[test]
    fn no_name_leaves_the_folders() {
        let machine = machine(&["/secret.c", "/s/secret.c"]);
        let dirs = FileSearch { source_dirs: vec!["/s/d".into()], ..search(&[(".", "/s/d")], &[]) };
        for name in ["../secret.c", "x/../../secret.c", "../../secret.c"] {
            assert_eq!(found(&dirs, name, &machine), None, "{name}");
        }
        let long = format!("{}secret.c", "a/".repeat(100_000));
        assert_eq!(found(&dirs, &long, &machine), None);
    }

    #[test]
    fn sources_of_a_bundle_are_in_it_or_where_the_user_says() {
        let (bundle, local) = (machine(&["/x/a.c"]), machine(&["./b.c", "/s/b.c", "/x/b.c"]));
        let files = FileSearch { source_dirs: vec!["/s".into()], ..search(&[], &[]) };
        let none = search(&[], &[]);
        let text = |files: &FileSearch, name: &[u8]| {
            SourceFiles::of_bundle(files, &bundle, &local).text(name)
        };
        assert_eq!(text(&files, b"/x/a.c").as_deref(), Some(&b"/x/a.c"[..]));
        assert_eq!(text(&files, b"./b.c").as_deref(), Some(&b"/s/b.c"[..]));
        assert_eq!(text(&none, b"./b.c"), None);
        assert_eq!(text(&none, b"/x/b.c"), None);
    }
}
