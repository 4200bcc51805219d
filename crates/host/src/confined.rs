//! Opening of untrusted paths inside a folder, as if that folder were `/`.
//! `..` stops there, symlinks are followed inside, and magic links of the kernel lead nowhere.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2, readlinkat};
use rustix::io::Errno;

use crate::forbidden::{is_forbidden, link_of, open_folder};

/// Maximum number of retries of a lookup that was disturbed by renamed folders.
const ATTEMPTS: u32 = 16;
/// Maximum number of symlinks on one path, as in Linux. Source: `path_resolution(7)`.
const LINKS: u32 = 40;

/// Opens the file at `path`, which begins with `root`, inside of `root`.
/// Never blocks, and never makes a terminal the controlling one.
///
/// No folder stays open between calls: a replaced folder is noticed,
/// and folders of processes and containers are not kept alive.
///
/// # Errors
/// If it is missing, cannot be opened, or is not inside, which looks like a missing file.
pub(crate) fn open_inside(root: &Path, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let outside = || io::Error::from(io::ErrorKind::NotFound);
    let rest = path.strip_prefix(root).map_err(|_| outside())?;
    // With `O_PATH` nothing is opened that could block, and the kernel does not accept such flags.
    let careful = OFlags::NOCTTY | OFlags::NONBLOCK;
    let flags = flags
        | OFlags::CLOEXEC
        | if flags.contains(OFlags::PATH) { OFlags::empty() } else { careful };
    // Paths cannot leave the root of the process, so no descriptor is needed.
    let is_system = root == Path::new("/");
    let mut folder = None;
    let opened = if is_system {
        by_kernel(CWD, path, flags, ResolveFlags::empty())
    } else {
        by_kernel(folder.insert(open_folder(root)?).as_fd(), rest, flags, ResolveFlags::IN_ROOT)
    };
    let opened = match opened {
        // The system call is missing, or a sandbox denies it.
        Err(Errno::NOSYS | Errno::PERM) => {
            let folder = folder.map_or_else(|| open_folder(root), Ok)?;
            by_components(folder.as_fd(), rest, flags)?
        }
        opened => opened?,
    };
    if is_forbidden(root, opened.as_fd())? { Err(outside()) } else { Ok(opened) }
}

/// Opens the file of an `O_PATH` descriptor for reading: the same file, even if its path was replaced.
/// `None` if `/proc` is not mounted.
///
/// # Errors
/// If it cannot be opened.
pub(crate) fn reopen(place: BorrowedFd<'_>) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match openat(CWD, link_of(place), flags, Mode::empty()) {
        Err(Errno::NOENT) => Ok(None),
        opened => Ok(Some(opened?)),
    }
}

/// Source: openat2(2), `RESOLVE_IN_ROOT`, `RESOLVE_NO_MAGICLINKS`;
/// `EAGAIN` if the kernel cannot ensure that `..` stayed inside.
fn by_kernel(
    folder: BorrowedFd<'_>,
    rest: &Path,
    flags: OFlags,
    resolve: ResolveFlags,
) -> Result<OwnedFd, Errno> {
    let resolve = resolve | ResolveFlags::NO_MAGICLINKS;
    let rest = if rest.as_os_str().is_empty() { Path::new(".") } else { rest };
    for _ in 0..ATTEMPTS {
        match openat2(folder, rest, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            opened => return opened,
        }
    }
    Err(Errno::AGAIN)
}

/// The same by single components; symlinks are not followed but read.
fn by_components(folder: BorrowedFd<'_>, rest: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut links = LINKS;
    // Entered folders below the root; `..` returns to the previous one.
    let mut entered: Vec<OwnedFd> = Vec::new();
    let mut todo: Vec<OsString> = Vec::new();
    push_components(&mut todo, rest);
    while let Some(name) = todo.pop() {
        if name == ".." {
            entered.pop();
            continue;
        }
        let at = entered.last().map_or(folder, AsFd::as_fd);
        let found =
            openat(at, &name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
        if let Some(target) = link_target(found.as_fd())? {
            links = links.checked_sub(1).ok_or(Errno::LOOP)?;
            if target.is_absolute() {
                entered.clear();
            }
            push_components(&mut todo, &target);
        } else if todo.is_empty() && !flags.contains(OFlags::PATH) {
            return openat(at, &name, flags | OFlags::NOFOLLOW, Mode::empty());
        } else {
            entered.push(found);
        }
    }
    let last = entered.last().map_or(folder, AsFd::as_fd);
    if flags.contains(OFlags::PATH) {
        return rustix::io::fcntl_dupfd_cloexec(last, 0);
    }
    openat(last, ".", flags, Mode::empty())
}

/// Pushes the components of a path, the first on top.
fn push_components(todo: &mut Vec<OsString>, path: &Path) {
    let components = path.components().rev().filter_map(|component| match component {
        Component::Normal(name) => Some(name),
        Component::ParentDir => Some(OsStr::new("..")),
        _ => None,
    });
    todo.extend(components.map(OsStr::to_owned));
}

/// Returns the target of a symlink; `None` for other files.
fn link_target(found: BorrowedFd<'_>) -> Result<Option<PathBuf>, Errno> {
    let stat = rustix::fs::fstat(found)?;
    if rustix::fs::FileType::from_raw_mode(stat.st_mode) != rustix::fs::FileType::Symlink {
        return Ok(None);
    }
    let target = readlinkat(found, "", Vec::new())?;
    Ok(Some(PathBuf::from(OsString::from_vec(target.into_bytes()))))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make the files that they look for")]
mod tests {
    use std::fs::File;
    use std::io::Read as _;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::ScratchDir;
    use crate::forbidden::location_of;

    type OpenFn = fn(BorrowedFd<'_>, &Path, OFlags) -> Result<OwnedFd, Errno>;

    fn text(opened: OwnedFd) -> String {
        let mut text = String::new();
        File::from(opened).read_to_string(&mut text).expect("text");
        text
    }

    /// Makes a folder `jail` with symlinks of all kinds, and one next to it.
    fn folders() -> ScratchDir {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(at("jail/bin/deep")).expect("folders");
        std::fs::create_dir_all(at("outside")).expect("folders");
        std::fs::write(at("jail/bin/app"), "inside").expect("a file");
        std::fs::write(at("outside/app"), "outside").expect("a file");
        symlink("../bin/app", at("jail/bin/relative")).expect("a link");
        symlink("/bin/app", at("jail/absolute")).expect("a link");
        symlink("../outside", at("jail/up")).expect("a link");
        symlink(at("outside/app"), at("jail/out")).expect("a link");
        symlink("loop", at("jail/loop")).expect("a link");
        symlink("bin", at("jail/dir")).expect("a link");
        dir
    }

    #[test]
    fn both_ways_stay_inside() {
        let dir = folders();
        let jail = File::open(dir.path().join("jail")).expect("a folder");
        let in_root: OpenFn =
            |folder, path, flags| by_kernel(folder, path, flags, ResolveFlags::IN_ROOT);
        for open in [in_root, by_components] {
            for path in [
                "bin/app",
                "./bin/./app",
                "../bin/app",
                "bin/../../../bin/deep/../app",
                "bin/relative",
                "absolute",
                "dir/app",
                "dir/../../absolute",
            ] {
                let opened = open(jail.as_fd(), Path::new(path), OFlags::RDONLY);
                assert_eq!(text(opened.expect(path)), "inside", "{path}");
            }
            for path in ["../outside/app", "up/app", "out", "none", "bin/app/none"] {
                let error = open(jail.as_fd(), Path::new(path), OFlags::RDONLY).expect_err(path);
                assert!(matches!(error, Errno::NOENT | Errno::NOTDIR), "{path}: {error}");
            }
            let error = open(jail.as_fd(), Path::new("loop"), OFlags::RDONLY).expect_err("a loop");
            assert_eq!(error, Errno::LOOP);
            for path in ["", "..", "bin/.."] {
                let opened = open(jail.as_fd(), Path::new(path), OFlags::PATH).expect(path);
                assert_eq!(location_of(opened.as_fd()), location_of(jail.as_fd()), "{path}");
            }
        }
    }

    #[test]
    fn what_the_kernel_makes_up_is_not_inside() {
        let root = Path::new("/");
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        symlink("/proc/self/status", dir.path().join("status")).expect("a link");
        symlink("/dev", dir.path().join("devices")).expect("a link");
        let linked = dir.path().join("devices/null");
        let plain =
            ["/proc/self/status", "/./proc/self/status", "/tmp/../dev/null", "/sys/kernel/notes"];
        let links =
            [dir.path().join("status"), linked, PathBuf::from("/proc/self/root/etc/passwd")];
        for path in plain.iter().map(PathBuf::from).chain(links) {
            for flags in [OFlags::PATH, OFlags::RDONLY] {
                let error = open_inside(root, &path, flags).expect_err("nothing");
                assert!(
                    matches!(error.kind(), io::ErrorKind::NotFound)
                        || error.raw_os_error() == Some(40),
                    "{}: {error}",
                    path.display()
                );
            }
        }
        // A root in there is allowed.
        let own = format!("/proc/{}", std::process::id());
        assert!(
            open_inside(Path::new(&own), &Path::new(&own).join("maps"), OFlags::RDONLY).is_ok()
        );
        assert!(open_inside(root, dir.path(), OFlags::PATH).is_ok());
        let elsewhere = open_inside(dir.path(), Path::new("/etc/passwd"), OFlags::PATH);
        assert_eq!(elsewhere.expect_err("not below").kind(), io::ErrorKind::NotFound);
    }
}
