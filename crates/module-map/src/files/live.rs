//! Files of processes that still live, seen through their own root: a container's, whose paths mean nothing outside.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::options::FileOptions;
use crate::module::Module;
use crate::module::path_on_disk;

/// The module's file below `/proc/PID/root` of the process that mapped it first, where that process still lives: its
/// memory map has the same file at the same address, which no other process of that id would have.
///
/// Source: proc(5), `/proc/PID/maps` and `/proc/PID/root`.
pub(crate) fn live_path(options: &FileOptions, module: &Module) -> Option<PathBuf> {
    if !options.trust_running_kernel {
        return None;
    }
    let (pid, start) = module.first_mapped?;
    if pid.0 <= 0 {
        return None;
    }
    let maps = fs::read(format!("/proc/{pid}/maps")).ok()?;
    let prefix = format!("{:08x}-", start.0);
    maps.split(|&byte| byte == b'\n')
        .any(|line| line.starts_with(prefix.as_bytes()) && line.ends_with(&module.path))
        .then(|| {
            let path = OsStr::from_bytes(path_on_disk(&module.path));
            let root = format!("/proc/{pid}/root");
            Path::new(&root).join(Path::new(path).strip_prefix("/").unwrap_or(Path::new(path)))
        })
}
