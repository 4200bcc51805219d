//! Files of processes that still live, seen through their own root: a container's, whose paths mean nothing outside.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use address::Pid;
use host::Origin;

use super::candidates::{FileCandidate, below};
use super::options::FileOptions;
use crate::module::{Module, path_on_disk};

/// The module's file below `/proc/PID/root` of the process that mapped it first, where that process still lives: its
/// memory map has the same file at the same address, which no other process of that id would have.
///
/// Source: proc(5), `/proc/PID/maps` and `/proc/PID/root`.
pub(crate) fn live_path(options: &FileOptions, module: &Module) -> Option<FileCandidate> {
    let (pid, start) = module.first_mapped?;
    let root = live_root(options, pid)?;
    let process = PathBuf::from(format!("/proc/{pid}"));
    let origin = Origin::Recording { root: &process };
    let maps = options.host.read(&process.join("maps"), origin).ok()?;
    let prefix = format!("{:08x}-", start.0);
    maps.split(|&byte| byte == b'\n')
        .any(|line| line.starts_with(prefix.as_bytes()) && line.ends_with(&module.path))
        .then(|| {
            let path = below(&root, Path::new(OsStr::from_bytes(path_on_disk(&module.path))));
            FileCandidate::recorded(&root, path)
        })
}

/// The root of a process, where the recording was made by the running kernel, so that it can still live.
pub(crate) fn live_root(options: &FileOptions, pid: Pid) -> Option<PathBuf> {
    let can_live = options.trust_running_kernel && pid.0 > 0;
    can_live.then(|| PathBuf::from(format!("/proc/{pid}/root")))
}
