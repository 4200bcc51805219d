//! A host in memory, with only the files inserted into it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Cursor;
use std::path::{Component, Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use crate::{
    ByteStream, Content, DirEntry, FileKind, FileOwner, FileStamp, FileStat, Host, HostError,
    HostFile, HostText, Origin, READ_LIMIT, RecordedFile,
};

/// A host that serves files from memory. Folders exist if files are below them; there are no symlinks.
///
/// Each inserted file is a new one, with its own inode and modification time.
#[derive(Debug, Default)]
pub struct MemoryHost(RwLock<HostState>);

#[derive(Debug, Default)]
struct HostState {
    files: BTreeMap<PathBuf, HostNode>,
    /// Identities of files that differ from their stamps.
    recorded: BTreeMap<PathBuf, RecordedFile>,
    variables: BTreeMap<String, OsString>,
    vdso: Option<Vec<u8>>,
    n_inserted: u64,
}

#[derive(Debug)]
enum HostNode {
    File(HostFile, FileOwner),
    Special,
}

impl MemoryHost {
    /// Creates a host without files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Inserts a file at a path, replacing an earlier one.
    pub fn insert(&self, path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) {
        self.insert_of(path, bytes, FileOwner::This);
    }

    /// Inserts a file of another user.
    pub fn insert_of(&self, path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>, owner: FileOwner) {
        self.insert_stamped(path.into(), bytes.into(), owner, None);
    }

    /// Inserts a file that was modified at that time, in nanoseconds since 1970.
    pub fn insert_written(&self, path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>, at: i128) {
        self.insert_stamped(path.into(), bytes.into(), FileOwner::This, Some(at));
    }

    fn insert_stamped(&self, path: PathBuf, bytes: Vec<u8>, owner: FileOwner, at: Option<i128>) {
        self.change(|state| {
            state.n_inserted += 1;
            let size = bytes.len() as u64;
            let inode = state.n_inserted;
            let modified = at.unwrap_or_else(|| i128::from(inode));
            let stamp = FileStamp { device: 0, inode, size, modified, changed: 0 };
            let content = Content::from(bytes);
            state.files.insert(path, HostNode::File(HostFile { content, stamp }, owner));
        });
    }

    /// Sets the identity of the file at a path, as map records state it.
    pub fn set_recorded(&self, path: impl Into<PathBuf>, identity: RecordedFile) {
        self.change(|state| state.recorded.insert(path.into(), identity));
    }

    /// Inserts a FIFO at a path.
    pub fn insert_special(&self, path: impl Into<PathBuf>) {
        self.change(|state| state.files.insert(path.into(), HostNode::Special));
    }

    /// Removes the file at a path.
    pub fn remove(&self, path: &Path) {
        self.change(|state| state.files.remove(path));
    }

    /// Sets an environment variable.
    pub fn set_variable(&self, name: &str, value: impl Into<OsString>) {
        self.change(|state| state.variables.insert(name.to_owned(), value.into()));
    }

    /// Sets the running kernel's vdso.
    pub fn set_vdso(&self, bytes: impl Into<Vec<u8>>) {
        self.change(|state| state.vdso = Some(bytes.into()));
    }

    fn change<T>(&self, change: impl FnOnce(&mut HostState) -> T) {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner));
    }

    fn state(&self) -> RwLockReadGuard<'_, HostState> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HostState {
    /// Returns all files below a folder.
    fn below<'s>(&'s self, folder: &'s Path) -> impl Iterator<Item = (&'s Path, &'s HostNode)> {
        let from = self.files.range(folder.to_owned()..);
        from.map(|(path, node)| (path.as_path(), node))
            .take_while(move |(path, _)| path.starts_with(folder))
            .filter(move |(path, _)| *path != folder)
    }
}

/// Resolves a path without symlinks; `None` if it does not begin with its root.
fn resolved<'p>(path: &'p Path, origin: Origin<'_>) -> Option<Cow<'p, Path>> {
    let Some(root) = origin.root() else { return Some(Cow::Borrowed(path)) };
    let rest = path.strip_prefix(root).ok()?;
    let mut below = PathBuf::new();
    for component in rest.components() {
        match component {
            Component::Normal(name) => below.push(name),
            Component::ParentDir => {
                below.pop();
            }
            _ => {}
        }
    }
    Some(Cow::Owned(if below.as_os_str().is_empty() { root.to_owned() } else { root.join(below) }))
}

impl Host for MemoryHost {
    fn open(&self, path: &Path, origin: Origin<'_>) -> Result<HostFile, HostError> {
        let asked = path;
        let path = resolved(path, origin).ok_or_else(|| HostError::missing(asked))?;
        let state = self.state();
        match state.files.get(&*path) {
            Some(HostNode::File(file, _)) => Ok(file.clone()),
            None if state.below(&path).next().is_none() => Err(HostError::missing(asked)),
            _ => Err(HostError::NotRegular { path: asked.to_owned() }),
        }
    }

    fn text(&self, path: &Path, origin: Origin<'_>) -> Result<HostText, HostError> {
        let content = self.open(path, origin)?.content;
        if content.len() as u64 > READ_LIMIT {
            return Err(HostError::TooLarge { path: path.to_owned(), limit: READ_LIMIT });
        }
        let asked = resolved(path, origin).unwrap_or(Cow::Borrowed(path));
        let owner = match self.state().files.get(&*asked) {
            Some(HostNode::File(_, owner)) => *owner,
            _ => FileOwner::This,
        };
        Ok(HostText { bytes: content.to_vec(), owner })
    }

    fn stream(&self, path: &Path, origin: Origin<'_>) -> Result<ByteStream, HostError> {
        Ok(ByteStream::of_reader(Cursor::new(self.open(path, origin)?.content)))
    }

    fn stat(&self, path: &Path, origin: Origin<'_>) -> Result<FileStat, HostError> {
        let asked = path;
        let path = resolved(path, origin).ok_or_else(|| HostError::missing(asked))?;
        let state = self.state();
        let (kind, stamp) = match state.files.get(&*path) {
            Some(HostNode::File(file, _)) => (FileKind::Regular, file.stamp),
            Some(HostNode::Special) => (FileKind::Special, FileStamp::default()),
            None if state.below(&path).next().is_some() => {
                (FileKind::Directory, FileStamp::default())
            }
            None => return Err(HostError::missing(asked)),
        };
        Ok(FileStat { kind, stamp })
    }

    fn recorded_file(&self, path: &Path, origin: Origin<'_>) -> Result<RecordedFile, HostError> {
        let stamp = self.open(path, origin)?.stamp;
        let at = resolved(path, origin).unwrap_or(Cow::Borrowed(path));
        let stated = self.state().recorded.get(&*at).copied();
        Ok(stated.unwrap_or_else(|| RecordedFile::of_stamp(&stamp)))
    }

    fn owner(&self, path: &Path, origin: Origin<'_>) -> Result<FileOwner, HostError> {
        self.open(path, origin)?;
        let at = resolved(path, origin).unwrap_or(Cow::Borrowed(path));
        match self.state().files.get(&*at) {
            Some(HostNode::File(_, owner)) => Ok(*owner),
            _ => Err(HostError::missing(path)),
        }
    }

    fn open_below(&self, folder: &Path, path: &Path) -> Result<HostFile, HostError> {
        let system = Origin::Recording { root: Path::new("/") };
        let (folder, place) = (resolved(folder, system), resolved(path, system));
        let (Some(folder), Some(place)) = (folder, place) else {
            return Err(HostError::missing(path));
        };
        if *folder == *Path::new("/") || !place.starts_with(&*folder) {
            return Err(HostError::missing(path));
        }
        self.open(path, system)
    }

    fn list(&self, path: &Path, origin: Origin<'_>) -> Result<Vec<DirEntry>, HostError> {
        let path = &*resolved(path, origin).ok_or_else(|| HostError::missing(path))?;
        let state = self.state();
        let mut entries: Vec<DirEntry> = Vec::new();
        for (file, node) in state.below(path) {
            let mut parts = file.strip_prefix(path).unwrap_or(file).iter();
            let Some(name) = parts.next() else { continue };
            let kind = match node {
                _ if parts.next().is_some() => FileKind::Directory,
                HostNode::File(..) => FileKind::Regular,
                HostNode::Special => FileKind::Special,
            };
            if entries.last().is_none_or(|last| last.name != name) {
                entries.push(DirEntry { name: name.to_owned(), kind });
            }
        }
        if entries.is_empty() { Err(HostError::missing(path)) } else { Ok(entries) }
    }

    fn running_vdso(&self) -> Option<Vec<u8>> {
        self.state().vdso.clone()
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        self.state().variables.get(name).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_is_in_the_folder_for_caches() {
        let host = MemoryHost::new();
        assert_eq!(host.file_store(), None);
        host.set_variable("HOME", "/users/u");
        assert_eq!(host.file_store(), Some("/users/u/.cache/unwind-perf/files".into()));
        // Relative paths must be ignored.
        host.set_variable("XDG_CACHE_HOME", "caches");
        assert_eq!(host.file_store(), Some("/users/u/.cache/unwind-perf/files".into()));
        host.set_variable("XDG_CACHE_HOME", "/caches");
        assert_eq!(host.file_store(), Some("/caches/unwind-perf/files".into()));
    }

    #[test]
    fn files_folders_and_what_is_neither() {
        let host = MemoryHost::new();
        host.insert("/usr/lib/a.so", *b"a");
        host.insert("/usr/lib/x/b.so", *b"bb");
        host.insert("/usr/lib/x/c.so", *b"");
        host.insert_special("/usr/pipe");
        let at = |path: &str| Path::new(path).to_owned();
        let kind = |path| host.stat(&at(path), Origin::System).map(|stat| stat.kind).ok();
        assert_eq!(
            ["/usr/lib/a.so", "/usr/lib", "/", "/usr/pipe", "/usr/li"].map(kind),
            [
                Some(FileKind::Regular),
                Some(FileKind::Directory),
                Some(FileKind::Directory),
                Some(FileKind::Special),
                None
            ]
        );
        let entry = |name: &str, kind| DirEntry { name: name.into(), kind };
        assert_eq!(
            host.list(&at("/usr/lib"), Origin::User).expect("a folder"),
            [entry("a.so", FileKind::Regular), entry("x", FileKind::Directory)]
        );
        assert!(host.list(&at("/usr/lib/a.so"), Origin::User).is_err());
        for path in ["/usr/lib", "/usr/pipe"] {
            let error = host.open(&at(path), Origin::User).expect_err("no file");
            assert_eq!(error.to_string(), format!("{path} is not a regular file"));
        }
        let error = host.open(&at("/none"), Origin::User).expect_err("nothing");
        assert!(error.is_missing());
        assert_eq!(host.read(&at("/usr/lib/x/b.so"), Origin::User).expect("a file"), b"bb");
    }

    #[test]
    fn a_file_in_the_place_of_another_is_another() {
        let host = MemoryHost::new();
        let path = Path::new("/a");
        host.insert(path, *b"x");
        let first = host.open(path, Origin::User).expect("a file");
        host.insert(path, *b"y");
        let second = host.open(path, Origin::User).expect("a file");
        assert_ne!(first.stamp, second.stamp);
        // Opened files do not change.
        assert_eq!((&first.content[..], &second.content[..]), (&b"x"[..], &b"y"[..]));
        host.remove(path);
        assert!(host.open(path, Origin::User).expect_err("gone").is_missing());
    }

    #[test]
    fn nothing_leaves_its_root() {
        let host = MemoryHost::new();
        host.insert("/jail/bin/app", *b"inside");
        host.insert("/outside/app", *b"outside");
        let root = Path::new("/jail");
        let read = |path: &str| host.read(Path::new(path), Origin::Recording { root }).ok();
        let inside = Some(b"inside".to_vec());
        assert_eq!(read("/jail/bin/app"), inside);
        assert_eq!(read("/jail/../bin/./app"), inside);
        assert_eq!(read("/jail/../outside/app"), None);
        assert_eq!(read("/outside/app"), None);
        assert!(host.is_dir(Path::new("/jail/.."), Origin::Stored { root }));
    }

    #[test]
    fn facts_of_the_machine() {
        let host = MemoryHost::new();
        assert_eq!((host.home(), host.running_vdso()), (None, None));
        assert_eq!(host.hostname(), b"");
        host.set_variable("HOME", "/users/user");
        host.set_vdso(*b"vdso");
        host.insert("/proc/sys/kernel/hostname", *b"box\n");
        host.insert("/proc/sys/kernel/osrelease", *b"6.1.0-13\n");
        assert_eq!(host.home(), Some(PathBuf::from("/users/user")));
        assert_eq!(host.running_vdso().as_deref(), Some(&b"vdso"[..]));
        assert_eq!(
            (host.hostname(), host.kernel_release()),
            (b"box".to_vec(), b"6.1.0-13".to_vec())
        );
    }
}
