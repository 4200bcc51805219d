//! Search for the map file of a process.

use std::path::{Path, PathBuf};

use address::Pid;
use host::{FileOwner, Host, HostError, HostText, Origin};
use jit::PerfMap;

use super::age::PerfMapAge;
use crate::search::FileFindingKind;
use crate::store::images::ImageStore;

/// Map file of a process.
#[derive(Debug)]
pub struct PerfMapFile {
    path: PathBuf,
    /// Time of the last modification, in nanoseconds since 1970; `None` if the user named its folder.
    written: Option<i128>,
    map: PerfMap,
}

impl PerfMapFile {
    /// Reads the map file of a process if there is a trusted one, because any user can create such a file in `/tmp`.
    /// Only regular files are read. Unused files are reported.
    ///
    /// A process in a container writes the file into its own `/tmp`, with the id that it has in the container.
    pub(super) fn read(pid: Pid, images: &ImageStore) -> Option<Self> {
        let (path, text, written) = read(pid, images)?;
        let text = trusted(&path, text, images)?;
        Some(Self { map: PerfMap::parse(text), path, written })
    }

    /// Functions stated in the file.
    #[must_use]
    pub const fn map(&self) -> &PerfMap {
        &self.map
    }

    /// Returns true if the file can belong to a process of that age, and not to an earlier process with the same id.
    /// Rejected files, and those of unknown age, are reported.
    #[must_use]
    pub fn can_be_of(&self, pid: Pid, age: PerfMapAge, images: &ImageStore) -> bool {
        self.written.is_none_or(|written| age.allows(pid, &self.path, written, images))
    }
}

/// Path, text and modification time of a map file.
type PerfMapText = (PathBuf, Result<HostText, HostError>, Option<i128>);

fn read(pid: Pid, images: &ImageStore) -> Option<PerfMapText> {
    let options = images.options();
    let host = &*options.host;
    let name = format!("perf-{pid}.map");
    for dir in &options.perf_map_dirs {
        let (path, origin) = (dir.join(&name), Origin::Stored { root: dir });
        if host.is_file(&path, origin) {
            // The user named the folder.
            return Some((path.clone(), host.text(&path, origin), None));
        }
    }
    let mut paths = vec![Path::new("/tmp").join(name)];
    // Processes of this machine are unrelated to a recording of another one.
    let inner = options.trust_running_kernel.then(|| inner_pid(pid, host)).flatten();
    paths.extend(inner.map(|inner| format!("/tmp/perf-{inner}.map").into()));
    // Not memory-mapped, because its process may still write it.
    paths.into_iter().find_map(|path| {
        let text = images.read_data_file(&path, pid)?;
        let written = images.data_file_written(&path, pid);
        Some((path, text, written))
    })
}

/// Returns the text if its owner is trusted.
fn trusted(path: &Path, text: Result<HostText, HostError>, images: &ImageStore) -> Option<Vec<u8>> {
    let HostText { bytes, owner } = text.inspect_err(|error| images.note_unread(error)).ok()?;
    match owner {
        FileOwner::Other(id) if !images.options().trust_perf_maps => {
            let message = format!(
                "{} was ignored: it belongs to user {id}, neither to you nor to root",
                path.display(),
            );
            images.note(FileFindingKind::ForeignPerfMap, message);
            None
        }
        _ => images.may_hold(path, PerfMap::bytes_of(&bytes)).then_some(bytes),
    }
}

/// Returns the id of a living process in its innermost namespace, if it differs.
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
