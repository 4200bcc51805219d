//! A new file before it gets its name: nameless if the file system supports that, else with a temporary name.

use std::fs::File;
use std::io::{self, Seek as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RenameFlags, linkat, openat, readlinkat, renameat, renameat_with,
};
use rustix::io::Errno;

use crate::forbidden::link_of;
use crate::writing::leftovers::{hold, remove_leftovers};
use crate::writing::new_file::PARTIAL_PREFIX;
use crate::writing::temporaries::{Temporary, random_name};

/// The folder of a new file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Folder<'f> {
    /// An opened folder, or the current one.
    pub(crate) at: BorrowedFd<'f>,
    /// Path from there; empty for that folder itself.
    pub(crate) below: &'f Path,
    /// Path of the folder for signal handlers.
    pub(crate) path: &'f Path,
}

impl<'f> Folder<'f> {
    /// Returns the folder of `place`.
    pub(crate) fn of(place: &'f Path) -> Self {
        let folder = place.parent().unwrap_or(Path::new(""));
        Self { at: CWD, below: folder, path: folder }
    }
}

/// A file without its final name.
#[derive(Debug)]
pub(crate) struct Draft {
    file: File,
    /// Temporary name, if needed.
    temporary: Option<Temporary>,
}

impl Draft {
    /// Creates a file for writing and reading. Removes leftovers of dead processes in the folder.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(crate) fn new(folder: Folder<'_>, mode: Mode) -> io::Result<Self> {
        remove_leftovers(folder.path);
        match nameless(folder, mode) {
            Some(file) => Ok(Self { file, temporary: None }),
            None => Self::named(folder, mode),
        }
    }

    /// Does the same with a temporary name.
    fn named(folder: Folder<'_>, mode: Mode) -> io::Result<Self> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (temporary, file) = with_new_name(folder, |name| {
            let file = openat(folder.at, name, flags, mode)?;
            hold(file.as_fd(), folder.at, name)?;
            Ok(File::from(file))
        })?;
        Ok(Self { file, temporary: Some(temporary) })
    }

    pub(crate) const fn file(&self) -> &File {
        &self.file
    }

    /// Returns a path that leads to it while this process has it open.
    pub(crate) fn path(&self) -> PathBuf {
        match &self.temporary {
            Some(temporary) => temporary.path().to_owned(),
            None => PathBuf::from(link_of(self.file.as_fd())),
        }
    }

    /// Gives the file its name in the folder, replacing a file with that name.
    /// The name never leads to another file in between, and no other name leads to this one.
    ///
    /// # Errors
    /// If it cannot be linked or renamed; then it is removed.
    pub(crate) fn complete(self, folder: Folder<'_>, name: &Path) -> io::Result<()> {
        let place = folder.below.join(name);
        let mut temporary = match self.temporary {
            Some(temporary) => temporary,
            None => match link(&self.file, folder.at, &place) {
                Ok(()) => return Ok(()),
                Err(Errno::EXIST) => {
                    with_new_name(folder, |name| Ok(link(&self.file, folder.at, name)?))?.0
                }
                // Some file systems have nameless files but cannot name them.
                Err(_) => return copy_of(self.file, folder)?.complete(folder, name),
            },
        };
        let made = folder.below.join(temporary.path().file_name().unwrap_or_default());
        renameat(folder.at, &made, folder.at, &place)?;
        temporary.persist();
        Ok(())
    }

    /// Gives the file the first of these names that is free in the folder, and returns it. No file is replaced.
    ///
    /// # Errors
    /// If it cannot be linked or renamed, or no name is free; then it is removed.
    pub(crate) fn complete_as_new(
        mut self,
        folder: Folder<'_>,
        names: impl Iterator<Item = PathBuf>,
    ) -> io::Result<PathBuf> {
        for name in names {
            let mut named = self.name_new(folder, &name);
            if self.temporary.is_none() && named.is_err_and(|error| error != Errno::EXIST) {
                // Some file systems have nameless files but cannot name them.
                self = copy_of(self.file, folder)?;
                named = self.name_new(folder, &name);
            }
            match named {
                Ok(()) => return Ok(name),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Gives the file a name that no file has.
    fn name_new(&mut self, folder: Folder<'_>, name: &Path) -> Result<(), Errno> {
        let place = folder.below.join(name);
        let Some(temporary) = &mut self.temporary else {
            return link(&self.file, folder.at, &place);
        };
        let made = folder.below.join(temporary.path().file_name().unwrap_or_default());
        match renameat_with(folder.at, &made, folder.at, &place, RenameFlags::NOREPLACE) {
            Ok(()) => temporary.persist(),
            // The file system cannot rename without replacing. The temporary name is removed later.
            Err(Errno::INVAL | Errno::NOSYS) => {
                linkat(folder.at, &made, folder.at, &place, AtFlags::empty())?;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Creates a nameless file; `None` if the file system does not support it, or if it could not be named.
///
/// Source: open(2), `O_TMPFILE`.
fn nameless(folder: Folder<'_>, mode: Mode) -> Option<File> {
    let below = if folder.below.as_os_str().is_empty() { Path::new(".") } else { folder.below };
    let file = openat(folder.at, below, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode);
    let file = file.ok()?;
    // Without /proc it cannot be named.
    readlinkat(CWD, link_of(file.as_fd()), Vec::new()).ok()?;
    // The lock is for the time with a temporary name.
    hold(file.as_fd(), folder.at, below).ok()?;
    Some(File::from(file))
}

/// Source: open(2): a nameless file is named by its link below /proc.
fn link(file: &File, at: BorrowedFd<'_>, place: &Path) -> Result<(), Errno> {
    linkat(CWD, link_of(file.as_fd()), at, place, AtFlags::SYMLINK_FOLLOW)
}

/// Makes a file with a temporary name, relative to [`Folder::at`].
fn with_new_name<T>(
    folder: Folder<'_>,
    make: impl Fn(&Path) -> io::Result<T>,
) -> io::Result<(Temporary, T)> {
    /// Maximum number of names that may be taken.
    const ATTEMPTS: u32 = 16;
    for _ in 0..ATTEMPTS {
        let name = random_name(PARTIAL_PREFIX);
        let below = folder.below.join(&name);
        match Temporary::file(folder.path.join(&name), |_| make(&below)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made,
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Copies the bytes into a file with a temporary name.
fn copy_of(mut file: File, folder: Folder<'_>) -> io::Result<Draft> {
    let copy = Draft::named(folder, Mode::from_raw_mode(file.metadata()?.mode() & 0o777))?;
    file.rewind()?;
    io::copy(&mut file, &mut &copy.file)?;
    Ok(copy)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at what was written")]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::ScratchDir;

    const MODE: Mode = Mode::from_raw_mode(0o640);

    fn count(dir: &ScratchDir) -> usize {
        std::fs::read_dir(dir.path()).expect("a folder").count()
    }

    /// Both paths give the same result, for a free name and for a taken one.
    #[test]
    fn a_file_gets_its_name_with_or_without_a_temporary_one() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let place = dir.path().join("file");
        let folder = Folder::of(&place);
        let named = || Draft::named(folder, MODE).expect("a file");
        let copied = || {
            let mut draft = Draft::new(folder, MODE).expect("a file");
            draft.file.write_all(b"copied ").expect("written");
            let copy = copy_of(draft.file, folder).expect("copied");
            assert!(copy.temporary.is_some());
            copy
        };
        let new = || Draft::new(folder, MODE).expect("a file");
        type Make<'m> = &'m dyn Fn() -> Draft;
        let ways: [(Make<'_>, &[u8]); 3] =
            [(&new, b"text"), (&named, b"text"), (&copied, b"copied text")];
        for (make, text) in ways {
            for before in [0, 1] {
                let draft = make();
                let names = before + usize::from(draft.temporary.is_some());
                assert_eq!(count(&dir), names);
                (&draft.file).write_all(b"text").expect("written");
                assert_eq!(std::fs::read(draft.path()).expect("readable"), text);
                draft.complete(folder, Path::new("file")).expect("named");
                assert_eq!(std::fs::read(&place).expect("the file"), text);
                let mode = std::fs::metadata(&place).expect("the file").permissions().mode();
                assert_eq!((mode & 0o777 & !0o640, count(&dir)), (0, 1));
            }
            std::fs::remove_file(&place).expect("removed");
        }
    }

    #[test]
    fn a_taken_name_is_never_replaced() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let place = dir.path().join("file");
        let folder = Folder::of(&place);
        let names = || ["file", "link", "file.2"].map(PathBuf::from).into_iter();
        std::fs::write(&place, "precious").expect("written");
        std::os::unix::fs::symlink("nowhere", dir.path().join("link")).expect("a link");
        for make in [Draft::new, Draft::named] {
            let draft = make(folder, MODE).expect("a file");
            (&draft.file).write_all(b"text").expect("written");
            let named = draft.complete_as_new(folder, names()).expect("named");
            assert_eq!(named, Path::new("file.2"));
            assert_eq!(std::fs::read(dir.path().join(named)).expect("the file"), b"text");
            let taken = make(folder, MODE).expect("a file").complete_as_new(folder, names());
            assert_eq!(taken.expect_err("taken").kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(
                (std::fs::read(&place).expect("the file"), count(&dir)),
                (b"precious".to_vec(), 3)
            );
            std::fs::remove_file(dir.path().join("file.2")).expect("removed");
        }
    }

    #[test]
    fn what_cannot_be_named_is_gone() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        std::fs::create_dir(dir.path().join("taken")).expect("a folder");
        let place = dir.path().join("taken");
        let folder = Folder::of(&place);
        for make in [Draft::new, Draft::named] {
            let draft = make(folder, MODE).expect("a file");
            let failed = draft.complete(folder, Path::new("taken"));
            assert_eq!(failed.expect_err("a folder").kind(), io::ErrorKind::IsADirectory);
            assert_eq!(count(&dir), 1);
        }
        let none = dir.path().join("none/file");
        let missing = Draft::new(Folder::of(&none), MODE).expect_err("no folder");
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
