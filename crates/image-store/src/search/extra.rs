//! Files below folders named by the user, found at any depth by the file name of a recorded path.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host::{FileKind, Host, Origin};

use super::candidates::FileCandidate;

/// Maximum depth of nested folders.
const DEEPEST: usize = 32;
/// Maximum number of entries; a whole system has fewer.
const MOST: usize = 1 << 20;

/// Files below a list of folders, by name.
#[derive(Debug, Clone, Default, Hash)]
pub struct ExtraFiles {
    by_name: Arc<BTreeMap<OsString, Vec<PathBuf>>>,
    is_named: bool,
}

impl ExtraFiles {
    /// Lists the folders. Unreadable ones are skipped, and links to folders are not followed.
    #[must_use]
    pub fn below(host: &dyn Host, dirs: &[PathBuf]) -> Self {
        let mut listing = Listing { host, capacity: MOST, files: BTreeMap::new() };
        dirs.iter().for_each(|dir| listing.add(dir, DEEPEST));
        Self { by_name: Arc::new(listing.files), is_named: !dirs.is_empty() }
    }

    /// Returns true if the user named any folder.
    #[must_use]
    pub const fn is_named(&self) -> bool {
        self.is_named
    }

    /// Returns the files with a name, by order of the folders and by depth.
    pub(crate) fn named(
        &self,
        name: Option<&OsStr>,
    ) -> impl Iterator<Item = FileCandidate> + use<'_> {
        let found = name.and_then(|name| self.by_name.get(name));
        found.into_iter().flatten().cloned().map(FileCandidate::of_user)
    }

    /// Returns all files, by name; those of one name in the order of [`Self::named`].
    pub(crate) fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.by_name.values().flatten()
    }

    /// Returns true if there are no files.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }
}

/// Folders being listed.
struct Listing<'h> {
    host: &'h dyn Host,
    /// Remaining number of entries.
    capacity: usize,
    files: BTreeMap<OsString, Vec<PathBuf>>,
}

impl Listing<'_> {
    fn add(&mut self, dir: &Path, depth: usize) {
        let mut entries = self.host.list(dir, Origin::User).unwrap_or_default();
        entries.truncate(self.capacity);
        self.capacity -= entries.len();
        let mut below = Vec::new();
        for entry in entries {
            let path = dir.join(&entry.name);
            match entry.kind {
                FileKind::Directory => below.push(path),
                FileKind::Link if !self.host.is_file(&path, Origin::User) => {}
                FileKind::Regular | FileKind::Link => {
                    self.files.entry(entry.name).or_default().push(path);
                }
                FileKind::Fifo | FileKind::Special => {}
            }
        }
        if depth > 0 {
            below.iter().for_each(|dir| self.add(dir, depth - 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use host::MemoryHost;

    use super::*;

    #[test]
    fn the_nearest_file_of_a_name_is_first() {
        let host = MemoryHost::new();
        for path in ["/b/deep/er/app", "/b/app", "/a/z/app", "/a/other"] {
            host.insert(path, *b"");
        }
        host.insert_special("/a/app");
        let extra = ExtraFiles::below(&host, &["/a".into(), "/none".into(), "/b".into()]);
        let named = |name: &str| extra.named(Some(OsStr::new(name))).collect::<Vec<_>>();
        let expected = ["/a/z/app", "/b/app", "/b/deep/er/app"];
        assert_eq!(named("app"), expected.map(|path| FileCandidate::of_user(path.into())));
        assert_eq!(named("z"), []);
        assert_eq!(extra.named(None).count(), 0);
    }
}
