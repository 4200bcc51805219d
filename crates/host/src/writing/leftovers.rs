//! Temporary files and folders of killed processes.
//! The owner of one holds a lock on it, which the kernel releases with the process.
//! Its name contains the machine, because not all file systems share locks.
#![allow(clippy::disallowed_methods, reason = "temporary files and folders are removed here")]

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use rustix::fs::{AtFlags, FlockOperation, flock, statat};
use rustix::io::Errno;

use crate::writing::new_file::PARTIAL_PREFIX;
use crate::writing::scratch::SCRATCH;
use crate::writing::temporaries::remove;

/// Maximum number of folder entries that are examined.
const LISTED: usize = 1 << 14;

/// This machine in file names: a hash of the host name (FNV-1a).
pub(crate) static HOST_HASH: LazyLock<u32> = LazyLock::new(|| {
    let name = rustix::system::uname().nodename().to_bytes().to_vec();
    name.iter()
        .fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
});

/// Marks a new file or folder as used by a living process, until it is closed.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if another process took it for a leftover in the meantime.
/// A file system without locks is not an error: nothing is removed on it.
pub(crate) fn hold(made: BorrowedFd<'_>, at: BorrowedFd<'_>, name: &Path) -> io::Result<()> {
    let taken = || io::Error::from(io::ErrorKind::AlreadyExists);
    if flock(made, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
        return Err(taken());
    }
    match statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Err(taken()),
        _ => Ok(()),
    }
}

/// Removes leftovers of this user's dead processes on this machine from a folder, once per folder.
/// Files that cannot be removed remain.
pub(crate) fn remove_leftovers(folder: &Path) {
    static DONE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let is_new = DONE.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned());
    if is_new {
        remove_all(folder);
    }
}

fn remove_all(folder: &Path) {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.take(LISTED).filter_map(Result::ok) {
        let path = entry.path();
        if is_temporary(&entry.file_name()) && is_dead(&path) {
            remove(&path);
        }
    }
}

/// Returns true for names that this program gives on this machine.
fn is_temporary(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let Some(rest) = [PARTIAL_PREFIX, SCRATCH].iter().find_map(|start| name.strip_prefix(start))
    else {
        return false;
    };
    let hex = |text: &str, len| text.len() == len && text.bytes().all(|it| it.is_ascii_hexdigit());
    rest.split_once('-').is_some_and(|(machine, random)| {
        hex(random, 16) && hex(machine, 8) && u32::from_str_radix(machine, 16) == Ok(*HOST_HASH)
    })
}

/// Returns true if a file or folder belongs to this user, and no process has it.
fn is_dead(path: &Path) -> bool {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let Ok(file) = opened else { return false };
    let Ok(metadata) = file.metadata() else { return false };
    let is_own = metadata.uid() == rustix::process::geteuid().as_raw()
        && (metadata.is_file() || metadata.is_dir());
    is_own && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsFd as _;

    use super::*;
    use crate::ScratchDir;

    fn name(start: &str, machine: u32) -> String {
        format!("{start}{machine:08x}-0123456789abcdef")
    }

    #[test]
    fn what_dead_processes_left_goes_and_all_else_stays() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let at = |name: &str| dir.path().join(name);
        let here = *HOST_HASH;
        let (dead, other) = (name(PARTIAL_PREFIX, here), name(PARTIAL_PREFIX, here ^ 1));
        let (folder, old) = (name(SCRATCH, here), ".unwind-perf-0123456789abcdef".to_owned());
        let living = name(SCRATCH, here).replace("0123", "4567");
        for name in [&dead, &other, &old] {
            std::fs::write(at(name), b"half").expect("a file");
        }
        for name in [&folder, &living] {
            std::fs::create_dir(at(name)).expect("a folder");
            std::fs::write(at(name).join("in it"), b"x").expect("a file");
        }
        let link = dead.replace("0123", "89ab");
        std::os::unix::fs::symlink("elsewhere", at(&link)).expect("a link");
        let foreign = dead.replace("0123", "cdef");
        std::fs::write(at(&foreign), b"another user's").expect("a file");
        // Only the superuser can give a file away.
        let is_given = std::os::unix::fs::chown(at(&foreign), Some(12_345), None).is_ok();
        let held = File::open(at(&living)).expect("the folder");
        flock(&held, FlockOperation::LockExclusive).expect("locked");
        remove_all(dir.path());
        let mut left: Vec<String> = std::fs::read_dir(dir.path())
            .expect("a folder")
            .map(|it| it.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        left.sort();
        let mut expected = vec![other, old, living.clone(), link];
        expected.extend(is_given.then_some(foreign));
        expected.sort();
        assert_eq!(left, expected);
        drop(held);
        remove_all(dir.path());
        assert!(!at(&living).exists());
    }

    #[test]
    fn what_is_being_made_is_held() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let inner = ScratchDir::below(dir.path()).expect("a folder");
        assert!(is_temporary(inner.path().file_name().expect("a name")) && !is_dead(inner.path()));
        remove_all(dir.path());
        assert!(inner.path().is_dir());
        // Another process removed it before it was locked.
        let gone = File::open(dir.path()).expect("a folder");
        let held = hold(gone.as_fd(), rustix::fs::CWD, &dir.path().join("none"));
        assert_eq!(held.expect_err("taken").kind(), io::ErrorKind::AlreadyExists);
    }
}
