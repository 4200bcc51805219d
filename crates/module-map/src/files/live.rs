//! Files of processes that still live, seen through their own root: a container's, whose paths mean nothing outside.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use address::Pid;
use host::Origin;

use super::candidates::below;
use super::options::FileOptions;
use crate::module::{Module, path_on_disk};

/// The module's file below `/proc/PID/root` of the process that mapped it first, where that process still lives: its
/// memory map has the same file at the same address, which no other process of that id would have.
///
/// Source: proc(5), `/proc/PID/maps` and `/proc/PID/root`.
pub(crate) fn live_path(options: &FileOptions, module: &Module) -> Option<PathBuf> {
    let (pid, start) = module.first_mapped?;
    let root = live_root(options, pid)?;
    let maps = PathBuf::from(format!("/proc/{pid}/maps"));
    let maps = options.host.read(&maps, Origin::Recording).ok()?;
    let prefix = format!("{:08x}-", start.0);
    maps.split(|&byte| byte == b'\n')
        .any(|line| line.starts_with(prefix.as_bytes()) && line.ends_with(&module.path))
        .then(|| below(&root, Path::new(OsStr::from_bytes(path_on_disk(&module.path)))))
}

/// The root of a process, where the recording was made by the running kernel, so that it can still live.
pub(crate) fn live_root(options: &FileOptions, pid: Pid) -> Option<PathBuf> {
    let can_live = options.trust_running_kernel && pid.0 > 0;
    can_live.then(|| PathBuf::from(format!("/proc/{pid}/root")))
}
