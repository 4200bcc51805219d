//! Where the map of a process is.

use std::path::Path;

use address::Pid;
use host::{Host, Origin};
use module_map::ImageStore;

/// The text of the map file of a process, if there is one. Only a regular file is read.
///
/// A process in a container writes the file into its own `/tmp` and under the id that it has inside.
#[must_use]
pub fn read_perf_map(pid: Pid, images: &ImageStore) -> Option<Vec<u8>> {
    let options = images.options();
    let host = &*options.host;
    let mut kept = options.perf_map_dirs.iter().map(|dir| dir.join(format!("perf-{pid}.map")));
    if let Some(path) = kept.find(|path| host.is_file(path, Origin::User)) {
        return host.read(&path, Origin::User).ok();
    }
    let mut names = vec![format!("/tmp/perf-{pid}.map")];
    names.extend(inner_pid(pid, host).map(|inner| format!("/tmp/perf-{inner}.map")));
    let path = names.iter().find_map(|name| images.data_file(Path::new(name), pid))?;
    // Not mapped: its process may still write it.
    host.read(&path, Origin::Recording).ok()
}

/// The id of a living process in its innermost namespace, where it has another one there.
///
/// Source: proc(5), `NSpid` in `/proc/PID/status`.
fn inner_pid(pid: Pid, host: &dyn Host) -> Option<String> {
    let status = host.read(Path::new(&format!("/proc/{pid}/status")), Origin::System).ok()?;
    let status = String::from_utf8_lossy(&status);
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    let mut ids = line.split_whitespace();
    let outer = ids.next()?;
    ids.next_back().filter(|inner| *inner != outer).map(str::to_owned)
}
