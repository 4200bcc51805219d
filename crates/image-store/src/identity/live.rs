//! Files of processes that are still alive: through their own root, as for containers, and through their mappings,
//! which keep deleted and replaced files accessible.

use std::path::PathBuf;

use address::Pid;
use host::{MapsLine, Origin};
use module_map::{MappedKind, Module};

use super::evidence::is_mapped_by;
use crate::search::{FileCandidate, FileOptions, below, recorded_path};

/// Paths of a file that a living process has mapped.
#[derive(Debug, Default)]
pub(crate) struct LiveFiles {
    /// The recorded mapping: same device and inode at the same address. It needs no further proof.
    pub(crate) mapped: Option<FileCandidate>,
    /// Paths to be compared like other candidates.
    pub(crate) others: Vec<FileCandidate>,
}

impl LiveFiles {
    /// Returns all paths.
    pub(crate) fn into_all(self) -> impl Iterator<Item = FileCandidate> {
        self.others.into_iter().chain(self.mapped)
    }
}

/// Returns the paths of a module's file in the process that mapped it first, if that process still has it mapped:
/// its path below the root of the process, its mapping, and the program of the process.
///
/// Source: proc(5): `maps`, `root`, `map_files` and `exe` of `/proc/PID`.
pub(crate) fn live_files(options: &FileOptions, module: &Module) -> LiveFiles {
    let none = LiveFiles::default;
    let Some((pid, start)) = module.first_mapped else { return none() };
    let Some(root) = live_root(options, pid) else { return none() };
    let process = PathBuf::from(format!("/proc/{pid}"));
    let origin = Origin::Recording { root: &process };
    let Ok(maps) = options.host.read(&process.join("maps"), origin) else { return none() };
    let mut own = MapsLine::all(&maps).filter(|line| is_mapped_by(line, module));
    let has_inode = module.identity.inode.is_some();
    let exact = own.clone().find(|line| line.start == start.0);
    // Without an inode, only the address can distinguish the process from another one with the same id.
    let Some(line) = exact.or_else(|| own.next().filter(|_| has_inode)) else { return none() };
    let link = |name: &str| FileCandidate::of_process(process.join(name));
    let mapping = link(&format!("map_files/{:x}-{:x}", line.start, line.end));
    let mut others = Vec::new();
    if module.kind == MappedKind::File {
        others.push(FileCandidate::recorded(&root, below(&root, &recorded_path(module))));
    }
    let is_recorded = has_inode && exact.is_some();
    let mapped = is_recorded.then(|| mapping.clone());
    others.extend((!is_recorded).then_some(mapping));
    others.push(link("exe"));
    LiveFiles { mapped, others }
}

/// Returns the root of a process that may still be alive: the recording must be of the running kernel.
pub(crate) fn live_root(options: &FileOptions, pid: Pid) -> Option<PathBuf> {
    let can_live = options.trust_running_kernel && pid.0 > 0;
    can_live.then(|| PathBuf::from(format!("/proc/{pid}/root")))
}
