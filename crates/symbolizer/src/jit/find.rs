//! Where the map of a process is.

use std::fs;
use std::path::Path;

use address::Pid;
use module_map::Library;

/// The text of the map file of a process, if there is one. Only a regular file is read.
///
/// A process in a container writes the file into its own `/tmp` and under the id that it has inside.
#[must_use]
pub fn read_perf_map(pid: Pid, library: &Library) -> Option<Vec<u8>> {
    let mut names = vec![format!("/tmp/perf-{pid}.map")];
    names.extend(inner_pid(pid).map(|inner| format!("/tmp/perf-{inner}.map")));
    let kept =
        library.options().perf_map_dirs.iter().map(|dir| dir.join(format!("perf-{pid}.map")));
    let kept = kept.into_iter().find(|path| path.is_file());
    let path =
        kept.or_else(|| names.iter().find_map(|name| library.data_file(Path::new(name), pid)))?;
    fs::read(path).ok()
}

/// The id of a living process in its innermost namespace, where it has another one there.
///
/// Source: proc(5), `NSpid` in `/proc/PID/status`.
fn inner_pid(pid: Pid) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    let mut ids = line.split_whitespace();
    let outer = ids.next()?;
    ids.next_back().filter(|inner| *inner != outer).map(str::to_owned)
}
