//! Roots: folders of served recordings. No requested name can leave its root.
#![allow(clippy::disallowed_methods, reason = "files are opened below the roots here")]

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use hashbrown::HashMap;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;

use super::listing;
use super::recording::{Opened, Recording, RecordingId, Stamp};
use super::shown::without_folder;
use crate::problem::{Problem, ProblemKind};

/// Folder with recordings.
#[derive(Debug)]
pub(crate) struct RecordingRoot {
    path: PathBuf,
    folder: OwnedFd,
    /// Served names; `None` if all names are served.
    only: Option<BTreeSet<PathBuf>>,
    /// True if its recordings are untrusted.
    foreign: bool,
}

impl RecordingRoot {
    /// Opens a folder that is served completely.
    ///
    /// # Errors
    /// If it is not a folder, or cannot be opened.
    pub(crate) fn folder(path: &Path, foreign: bool) -> io::Result<Self> {
        let path = std::fs::canonicalize(path)?;
        let flags = OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC;
        let folder = openat(CWD, &path, flags, Mode::empty())?;
        Ok(Self { path, folder, only: None, foreign })
    }

    /// Opens a folder and serves only `names` in it.
    ///
    /// # Errors
    /// As for [`Self::folder`].
    pub(crate) fn with_names(path: &Path, names: BTreeSet<PathBuf>) -> io::Result<Self> {
        Ok(Self { only: Some(names), ..Self::folder(path, false)? })
    }

    /// Returns true if one of the folders contains the other.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.path.starts_with(&other.path) || other.path.starts_with(&self.path)
    }

    /// Returns true if a name is served.
    pub(crate) fn serves(&self, name: &Path) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(name))
    }

    /// Opens a file or folder below the root. Opens it with `O_PATH` first, since opening a device can have side
    /// effects.
    ///
    /// # Errors
    /// If it is missing, or lies outside the root (`EXDEV`).
    pub(crate) fn open(&self, name: &Path) -> io::Result<File> {
        let place = self.beneath(name, OFlags::PATH)?;
        let kind = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(&place)?.st_mode);
        if !matches!(kind, rustix::fs::FileType::RegularFile | rustix::fs::FileType::Directory) {
            return Err(io::Error::from(io::ErrorKind::NotFound));
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let same = format!("/proc/self/fd/{}", place.as_fd().as_raw_fd());
        match openat(CWD, same, flags, Mode::empty()) {
            // /proc is not mounted.
            Err(Errno::NOENT) => Ok(File::from(self.beneath(name, OFlags::RDONLY)?)),
            opened => Ok(File::from(opened?)),
        }
    }

    /// Source: openat2(2), `RESOLVE_BENEATH`, `RESOLVE_NO_MAGICLINKS`.
    fn beneath(&self, name: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let flags = flags | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        match openat2(&self.folder, name, flags, Mode::empty(), resolve) {
            Err(Errno::NOSYS | Errno::PERM) => self.by_components(name, flags),
            opened => Ok(opened?),
        }
    }

    /// Fallback for kernels without that system call; links are not followed.
    fn by_components(&self, name: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let mut at = self.folder.try_clone()?;
        let mut parts = name.components().peekable();
        while let Some(part) = parts.next() {
            let Component::Normal(part) = part else {
                return Err(io::Error::from_raw_os_error(libc::EXDEV));
            };
            let last = parts.peek().is_none();
            let flags = if last { flags } else { OFlags::PATH | OFlags::DIRECTORY };
            let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            at = openat(&at, part, flags, Mode::empty())?;
        }
        Ok(at)
    }
}

/// All roots.
#[derive(Debug)]
pub(crate) struct Roots {
    roots: Vec<RecordingRoot>,
    /// Root and name of each observed id.
    positions: Mutex<HashMap<RecordingId, (usize, String)>>,
    /// Target of the id [`LIVE`], or the problem to return for it.
    live: Mutex<Option<Result<RecordingId, Problem>>>,
}

/// Id of the live recording.
const LIVE: &str = "live";

impl Roots {
    pub(crate) fn new(roots: Vec<RecordingRoot>) -> Self {
        Self { roots, positions: Mutex::default(), live: Mutex::default() }
    }

    /// Sets the target of the id [`LIVE`], or the reason that there is none.
    pub(crate) fn name_live(&self, place: Result<RecordingId, Problem>) {
        *self.live.lock().unwrap_or_else(PoisonError::into_inner) = Some(place);
    }

    /// Resolves the id [`LIVE`]; returns other ids unchanged.
    fn meant(&self, id: &str) -> Result<RecordingId, Problem> {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        match live.as_ref().filter(|_| id == LIVE) {
            Some(place) => place.clone(),
            None => Ok(RecordingId::from_text(id)),
        }
    }

    /// Replaces the paths of recordings in a problem by their names below the roots.
    pub(crate) fn named(&self, mut problem: Problem) -> Problem {
        for text in [&mut problem.detail, &mut problem.hint].into_iter().flatten() {
            for root in self.roots.iter().filter(|root| root.path != Path::new("/")) {
                *text = without_folder(text, &root.path.to_string_lossy());
            }
        }
        problem
    }

    /// Returns all recordings, sorted by name; if there are too many files, the first ones found.
    pub(crate) fn list(&self) -> Vec<Recording> {
        let mut all = Vec::new();
        for (number, root) in self.roots.iter().enumerate() {
            for name in listing::names(root) {
                if let Ok(opened) = self.open_at(number, &name) {
                    all.push(opened.recording);
                }
            }
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// Opens a recording by its id.
    ///
    /// # Errors
    /// If no recording has that id, or it no longer exists.
    pub(crate) fn by_id(&self, id: &str) -> Result<Opened, Problem> {
        let id = self.meant(id)?;
        let known = || {
            let known = self.positions.lock().unwrap_or_else(PoisonError::into_inner);
            known.get(&id).cloned()
        };
        let missing =
            || Problem::new(ProblemKind::NotFound).detail("there is no recording of that id");
        let place = known().or_else(|| {
            // The id may be from a link that is older than this process.
            self.list();
            known()
        });
        let (root, name) = place.ok_or_else(missing)?;
        self.open_at(root, &name)
    }

    /// Opens a recording by its name below one of the roots, or by its path.
    ///
    /// # Errors
    /// If it is missing, or lies outside the roots.
    pub(crate) fn by_name(&self, name: &str) -> Result<Opened, Problem> {
        let path = Path::new(name);
        let mut worst = Problem::new(ProblemKind::NotFound).detail(name);
        if path.components().any(|part| part == Component::ParentDir) {
            return Err(Problem::new(ProblemKind::Outside).detail(name));
        }
        for (number, root) in self.roots.iter().enumerate() {
            let below = if path.is_absolute() {
                path.strip_prefix(&root.path).ok().and_then(Path::to_str)
            } else {
                Some(name)
            };
            match below {
                Some(below) => match self.open_at(number, below) {
                    Ok(opened) => return Ok(opened),
                    Err(problem) if problem.is(ProblemKind::NotFound) => {}
                    Err(problem) => worst = problem,
                },
                None => worst = Problem::new(ProblemKind::Outside).detail(name),
            }
        }
        Err(worst)
    }

    fn open_at(&self, number: usize, name: &str) -> Result<Opened, Problem> {
        let missing = || Problem::new(ProblemKind::NotFound).detail(name);
        let root = self.roots.get(number).ok_or_else(missing)?;
        let path = Path::new(name);
        if !root.serves(path) {
            return Err(Problem::new(ProblemKind::Outside).detail(name));
        }
        let file = root.open(path).map_err(|error| match error.raw_os_error() {
            Some(libc::EXDEV | libc::ELOOP) => Problem::new(ProblemKind::Outside).detail(name),
            _ => missing(),
        })?;
        let metadata = file.metadata().map_err(|_| missing())?;
        let id = RecordingId::new(&root.path.to_string_lossy(), name);
        let recording = Recording {
            id: id.clone(),
            name: name.to_owned(),
            path: root.path.join(path).to_string_lossy().into_owned(),
            stamp: Stamp::of(&metadata),
            is_folder: metadata.is_dir(),
            foreign: root.foreign,
        };
        let mut known = self.positions.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(id, (number, name.to_owned()));
        Ok(Opened { recording, file: OwnedFd::from(file) })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use host::ScratchDir;

    use super::*;

    #[test]
    fn no_name_leads_out_of_a_root() {
        let dir = ScratchDir::below(&std::env::temp_dir()).unwrap();
        let served = dir.path().join("served");
        std::fs::create_dir(&served).unwrap();
        std::fs::write(dir.path().join("secret.data"), b"PERFILE2").unwrap();
        std::fs::write(served.join("a.data"), b"PERFILE2").unwrap();
        symlink("../secret.data", served.join("link.data")).unwrap();
        symlink("a.data", served.join("inside.data")).unwrap();
        symlink("/proc/self/root/etc", served.join("root")).unwrap();
        let roots = Roots::new(vec![RecordingRoot::folder(&served, false).unwrap()]);
        let opened = |name: &str| roots.by_name(name).map(|it| it.recording.name);
        let kind = |name: &str| roots.by_name(name).unwrap_err().kind;
        assert_eq!(opened("a.data").unwrap(), "a.data");
        assert_eq!(opened("inside.data").unwrap(), "inside.data");
        let absolute = served.canonicalize().unwrap().join("a.data");
        assert_eq!(opened(absolute.to_str().unwrap()).unwrap(), "a.data");
        for name in ["../secret.data", "link.data", "root/passwd", "/etc/passwd", "x/../a.data"] {
            assert_eq!(kind(name), "urn:unwind-perf:outside-roots", "{name}");
        }
        assert_eq!(kind("none.data"), "urn:unwind-perf:not-found");
        let names: Vec<String> = roots.list().into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["a.data", "inside.data"]);
        let id = roots.by_name("a.data").unwrap().recording.id;
        let fresh = Roots::new(vec![RecordingRoot::folder(&served, false).unwrap()]);
        assert_eq!(fresh.by_id(id.as_str()).unwrap().recording.name, "a.data");
        assert_eq!(fresh.by_id("0").unwrap_err().kind, "urn:unwind-perf:not-found");
    }

    #[test]
    fn only_what_was_named_is_served() {
        let dir = ScratchDir::below(&std::env::temp_dir()).unwrap();
        for name in ["a.data", "b.data"] {
            std::fs::write(dir.path().join(name), b"PERFILE2").unwrap();
        }
        let root =
            RecordingRoot::with_names(dir.path(), BTreeSet::from(["a.data".into()])).unwrap();
        let roots = Roots::new(vec![root]);
        assert_eq!(roots.list().len(), 1);
        assert_eq!(roots.by_name("b.data").unwrap_err().kind, "urn:unwind-perf:outside-roots");
    }

    #[test]
    fn links_are_not_followed_without_the_call() {
        let dir = ScratchDir::below(&std::env::temp_dir()).unwrap();
        std::fs::create_dir(dir.path().join("sub")).unwrap();
        std::fs::write(dir.path().join("sub/a.data"), b"x").unwrap();
        symlink("sub", dir.path().join("link")).unwrap();
        let root = RecordingRoot::folder(dir.path(), false).unwrap();
        let opened = |name: &str| root.by_components(Path::new(name), OFlags::RDONLY);
        assert!(opened("sub/a.data").is_ok());
        assert!(opened("link/a.data").is_err());
        assert!(opened("sub/../sub/a.data").is_err());
    }
}
