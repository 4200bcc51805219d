//! Additional names of a bundle's contents, for other programs: hard links, which take no space. tar can create a hard
//! link only to a file that it unpacked.
//!
//! `root/` is the file system of the recorded host, for options that name a sysroot. `names/` contains programs and
//! libraries by file name, and `debug/` their separate debug information by the same names. `[kernel.kallsyms]/`
//! contains the list of kernel symbols, at its path in perf's build-id cache.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use hashbrown::HashMap;

use crate::journal::{JournalAnswer, JournalAnswers};
use crate::manifest::{BundleFacts, StoredContent};
use crate::recorded_files::RecordedFiles;

/// Maximum length of a link's name in bytes. Source: `PATH_MAX` of Linux is 4096, including the folder of the unpacked
/// bundle.
const MOST_OF_NAME: usize = 1024;
/// Maximum length of a path component in bytes. Source: `NAME_MAX` of Linux.
const MOST_OF_PART: usize = 255;

/// Links, with the indices of their contents.
#[derive(Default)]
pub(super) struct Links(BTreeMap<Vec<u8>, usize>);

impl Links {
    /// Returns the links to the contents of a bundle. If files share a name, the first one gets it.
    pub(super) fn of(
        journal: &JournalAnswers,
        contents: &[StoredContent],
        facts: &BundleFacts,
        recorded: &RecordedFiles,
    ) -> Self {
        let mut links = Self::default();
        let places = ContentPaths::new(journal, facts);
        // By build-id, which is part of the entry's name.
        let id_of = |at: usize, what: &str| {
            contents.get(at)?.name.strip_prefix(".build-id/")?.strip_suffix(what)
        };
        let debug: BTreeMap<&str, usize> =
            (0..contents.len()).filter_map(|at| Some((id_of(at, "/debug")?, at))).collect();
        for (path, opened) in &recorded.files {
            let Some(&content) = places.by_path.get(&**opened) else { continue };
            links.add("root", path, content);
            let Some(name) = path.file_name() else { continue };
            let name = Path::new("/").join(name);
            let id = id_of(content, "/elf").or_else(|| id_of(content, "/debug"));
            if let Some(&debug) = id.and_then(|id| debug.get(id)) {
                links.add("debug", &name, debug);
            }
            if id_of(content, "/debug").is_none() {
                links.add("names", &name, content);
            }
        }
        if let Some(list) = places.kernel_list() {
            links.add("root", "/proc/kallsyms", list);
            if let Some(id) = recorded.kernel {
                links.add("[kernel.kallsyms]", format!("/{id}/kallsyms"), list);
            }
        }
        for (path, content) in places.on_machine() {
            links.add("root", path, content);
        }
        for (id, &at) in &debug {
            links.add("root", format!("/usr/lib/debug/.build-id/{id}.debug"), at);
        }
        links
    }

    /// Adds a name below a folder, unless it is used already, leads out of the folder, or is the name of a folder.
    fn add(&mut self, folder: &str, path: impl AsRef<Path>, content: usize) {
        let path = path.as_ref().as_os_str().as_bytes();
        let Some(parts) = path.strip_prefix(b"/").filter(|parts| is_plain(parts)) else { return };
        let name = [folder.as_bytes(), b"/", parts].concat();
        let is_below_file = name.iter().enumerate().any(|(at, &byte)| {
            byte == b'/' && name.get(..at).is_some_and(|above| self.0.contains_key(above))
        });
        let below = [&*name, b"/"].concat();
        let is_folder =
            self.0.range(below.clone()..).next().is_some_and(|it| it.0.starts_with(&below));
        if !is_below_file && !is_folder && name.len() <= MOST_OF_NAME {
            self.0.entry(name).or_insert(content);
        }
    }

    /// Returns the names, with the content of each.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Path, usize)> {
        self.0.iter().map(|(name, &content)| (Path::new(OsStr::from_bytes(name)), content))
    }
}

/// Returns true if a path has only plain components: it cannot lead elsewhere, and a terminal does not interpret it.
fn is_plain(path: &[u8]) -> bool {
    path.split(|&byte| byte == b'/').all(|part| {
        !matches!(part, b"" | b"." | b"..")
            && part.len() <= MOST_OF_PART
            && !part.iter().any(u8::is_ascii_control)
    })
}

/// Paths with content.
struct ContentPaths<'t> {
    journal: &'t JournalAnswers,
    by_path: HashMap<&'t Path, usize>,
    /// Path of the recording, which has its own entry name.
    recording: &'t Path,
    /// Folders that correspond to the root of the recorded host.
    sysroots: &'t [PathBuf],
    /// List of kernel symbols that the user named.
    named_list: Option<&'t Path>,
}

impl<'t> ContentPaths<'t> {
    fn new(journal: &'t JournalAnswers, facts: &'t BundleFacts) -> Self {
        let by_path = journal.paths.iter().filter_map(|place| match place.found {
            JournalAnswer::File { content, .. } => Some((&*place.path, content?)),
            JournalAnswer::Other(_) | JournalAnswer::Failed(_) => None,
        });
        Self {
            journal,
            by_path: by_path.collect(),
            recording: &facts.recording,
            sysroots: &facts.search.sysroots,
            named_list: facts.search.kallsyms.as_deref(),
        }
    }

    /// Returns the files by their paths on the recorded host.
    fn on_machine(&self) -> impl Iterator<Item = (PathBuf, usize)> {
        self.journal.paths.iter().filter_map(|place| {
            if place.path.starts_with(self.recording) {
                return None;
            }
            let content = *self.by_path.get(&*place.path)?;
            let path = match place.root.as_deref() {
                None => place.path.clone(),
                Some(root) if root == Path::new("/") => place.path.clone(),
                Some(root) if self.sysroots.iter().any(|it| it == root) => {
                    Path::new("/").join(place.path.strip_prefix(root).ok()?)
                }
                Some(_) => return None,
            };
            Some((path, content))
        })
    }

    /// Returns the list of kernel symbols that was read; the list of the running kernel only if it is the recorded one.
    fn kernel_list(&self) -> Option<usize> {
        let named = self.named_list.and_then(|path| self.by_path.get(path));
        let kept = || {
            let mut places = self.journal.paths.iter().map(|place| &*place.path);
            let is_list = |path: &Path| {
                path.ends_with("kcore_dir/kallsyms")
                    || path.components().any(|part| part.as_os_str() == "[kernel.kallsyms]")
            };
            places.find_map(|path| self.by_path.get(path).filter(|_| is_list(path)))
        };
        let running = || self.by_path.get(Path::new("/proc/kallsyms"));
        named.or_else(kept).or_else(running).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(paths: &[&str]) -> Vec<String> {
        let mut links = Links::default();
        for (at, path) in paths.iter().enumerate() {
            links.add("root", path, at);
        }
        links.iter().map(|(name, content)| format!("{} {content}", name.display())).collect()
    }

    #[test]
    fn names_lead_nowhere_else() {
        assert_eq!(
            names(&["/bin/a b", "/bin/ä (deleted)"]),
            ["root/bin/a b 0", "root/bin/ä (deleted) 1"]
        );
        let long = format!("/{}", "a".repeat(256));
        let deep = "/ab".repeat(400);
        for path in [
            "",
            "/",
            "a",
            "//anon",
            "/../x",
            "/a/../b",
            "/a/./b",
            "/a/",
            "/a\nb",
            "/\u{1b}[m",
            &long,
            &deep,
        ] {
            assert_eq!(names(&[path]), [""; 0], "{path:?}");
        }
    }

    #[test]
    fn no_name_is_a_file_and_a_folder() {
        assert_eq!(names(&["/a", "/a/b", "/a"]), ["root/a 0"]);
        assert_eq!(names(&["/a/b/c", "/a/b", "/a", "/a/bc"]), ["root/a/b/c 0", "root/a/bc 3"]);
    }
}
