//! Files of processes that still live: seen through their own root, as a container's are, and by their mappings, which
//! keep a file that was deleted or replaced.

use std::path::PathBuf;

use address::Pid;
use host::{MapsLine, Origin};
use module_map::{MappedKind, Module};

use super::evidence::is_mapped_by;
use crate::search::{FileCandidate, FileOptions, below, recorded_path};

/// The places of a file that a living process has mapped.
#[derive(Debug, Default)]
pub(crate) struct LiveFiles {
    /// The mapping that is recorded: the same numbers at the same address. It needs no further proof.
    pub(crate) mapped: Option<FileCandidate>,
    /// Places that are compared as others are.
    pub(crate) others: Vec<FileCandidate>,
}

impl LiveFiles {
    /// All places.
    pub(crate) fn into_all(self) -> impl Iterator<Item = FileCandidate> {
        self.others.into_iter().chain(self.mapped)
    }
}

/// The file of a module as the process that mapped it first has it, if that process still lives: its memory map has the
/// same file. By its path below the root of the process, by its mapping, and as the program of the process.
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
    // Without an inode, the address has to tell the process from another one of the same id.
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

/// The root of a process, if the recording was made by the running kernel, so that the process can still live.
pub(crate) fn live_root(options: &FileOptions, pid: Pid) -> Option<PathBuf> {
    let can_live = options.trust_running_kernel && pid.0 > 0;
    can_live.then(|| PathBuf::from(format!("/proc/{pid}/root")))
}
