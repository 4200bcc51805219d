//! Names of code in memory without a file, from the `perf-PID.map` that its process wrote.

use std::fs;
use std::path::PathBuf;

use address::Pid;

/// The text of the map file of a process, if there is one. Only a regular file is read.
pub(crate) fn map_of(pid: Pid) -> Option<Vec<u8>> {
    let path = PathBuf::from(format!("/tmp/perf-{pid}.map"));
    fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
    fs::read(&path).ok()
}
