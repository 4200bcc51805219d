//! Paths that do not lead to program files: pseudo file systems and devices.

use std::ffi::OsStr;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, fstat, fstatfs, openat, readlinkat};
use rustix::io::Errno;

/// Magic numbers of pseudo file systems: proc, sysfs, devpts, debugfs, tracefs, cgroup, cgroup2, securityfs,
/// bpf, pstore, configfs, efivarfs, `binfmt_misc`, mqueue, fusectl, nsfs.
///
/// Source: linux/magic.h; statfs(2).
const VIRTUAL_FILE_SYSTEMS: [u64; 16] = [
    0x9fa0,
    0x6265_6572,
    0x1cd1,
    0x6462_6720,
    0x7472_6163,
    0x0027_e0eb,
    0x6367_7270,
    0x7363_6673,
    0xcafe_4a11,
    0x6165_676c,
    0x6265_6570,
    0xde5e_81e4,
    0x4249_4e4d,
    0x1980_0202,
    0x6573_5543,
    0x6e73_6673,
];
/// Folders of such files, regardless of their file system.
const FOLDERS: [&str; 3] = ["/dev", "/proc", "/sys"];

/// Returns true if a recording must not name a file opened inside of `root`, unless `root` itself is in such a folder.
/// `root` is only queried for such files, which are rare.
pub(crate) fn is_forbidden(root: &Path, opened: BorrowedFd<'_>) -> Result<bool, Errno> {
    if is_virtual(opened)? && !is_virtual(open_folder(root)?.as_fd())? {
        return Ok(true);
    }
    let Some(place) = location_of(opened) else { return on_device_folder(root, opened) };
    let Some(folder) = FOLDERS.iter().find(|folder| place.starts_with(folder)) else {
        return Ok(false);
    };
    match location_of(open_folder(root)?.as_fd()) {
        Some(root) => Ok(!root.starts_with(folder)),
        None => on_device_folder(root, opened),
    }
}

fn is_virtual(opened: BorrowedFd<'_>) -> Result<bool, Errno> {
    // The type of the field differs by processor.
    #[allow(clippy::unnecessary_cast, reason = "not the same type everywhere")]
    let kind = fstatfs(opened)?.f_type as u64 & 0xffff_ffff;
    Ok(VIRTUAL_FILE_SYSTEMS.contains(&kind))
}

/// For a descriptor without a known path: returns true if it is on the file system of /dev, if that is a separate one.
fn on_device_folder(root: &Path, opened: BorrowedFd<'_>) -> Result<bool, Errno> {
    let of_path = |path: &str| rustix::fs::stat(Path::new(path)).map(|stat| stat.st_dev);
    let (Ok(devices), Ok(system)) = (of_path("/dev"), of_path("/")) else { return Ok(false) };
    let (root, opened) = (rustix::fs::stat(root)?.st_dev, fstat(opened)?.st_dev);
    Ok(opened == devices && devices != system && root != devices)
}

/// Returns the path of a descriptor according to the kernel; `None` if /proc is not mounted.
pub(crate) fn location_of(opened: BorrowedFd<'_>) -> Option<PathBuf> {
    let place = readlinkat(CWD, link_of(opened), Vec::new()).ok()?;
    Some(PathBuf::from(OsStr::from_bytes(place.as_bytes())))
}

/// Returns the magic link to the file of a descriptor, which works without any path.
pub(crate) fn link_of(opened: BorrowedFd<'_>) -> String {
    format!("/proc/self/fd/{}", opened.as_raw_fd())
}

/// Opens a folder for lookups below it.
pub(crate) fn open_folder(path: &Path) -> Result<OwnedFd, Errno> {
    openat(CWD, path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}
