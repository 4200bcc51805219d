//! The one rule by which a file of this machine is the recorded one: the evidence of the recording, in its order.
//!
//! | evidence | decides if | contradiction |
//! |---|---|---|
//! | build-id in the map record | always | another build-id |
//! | build-id that the header lists for the path | the path led to one file, which was not deleted, nor replaced before the recording ended | another build-id |
//! | device, inode and generation in the map record | the files are those of the recorded machine | another inode; written after the recording |
//! | none of these | | the path led to another file last; several files of that name |
//!
//! A weaker line never overrules a stronger one. `docs/FILES.md` states the rule for users.

use std::path::Path;

use address::BuildId;
use host::{MapsLine, Origin, RecordedFile};
use module_map::{Inode, Module, PathUse, path_on_disk};

use crate::search::{FileCandidate, FileOptions, recorded_path};

/// What proves that a file is the recorded one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileProof {
    /// Its build-id.
    BuildId,
    /// Its device, inode and generation, on the recorded machine.
    Inode,
    /// The user, a dump of JIT code or the running kernel gave the file for this module.
    Given,
    /// Nothing: it has the recorded path or name.
    None,
}

impl FileProof {
    /// The word for programs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BuildId => "build-id",
            Self::Inode => "inode",
            Self::Given => "given",
            Self::None => "none",
        }
    }
}

/// The evidence that decides about the file of a module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Evidence {
    /// The file has this build-id.
    BuildId(BuildId),
    /// The file has this identity on this machine.
    Inode(Inode),
    /// Nothing but the path.
    Path,
}

/// The result of the comparison of a file with the recorded identity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InodeMatch {
    Same,
    /// Nothing contradicts, and nothing proves it.
    Unknown,
    Other(Difference),
}

/// A contradiction between a file and the recorded identity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Difference {
    /// Another inode, or the same number on another device or of another generation.
    Inode,
    /// The content was written after the recording ended.
    Written,
}

impl Evidence {
    /// The evidence that decides about a module.
    pub(crate) fn of(module: &Module, options: &FileOptions) -> Self {
        let identity = module.identity;
        match (identity.build_id, identity.inode) {
            (Some(id), Some(inode)) if identity.is_listed => {
                if options.trust_running_kernel && was_replaced(module, inode, options) {
                    Self::Inode(inode)
                } else {
                    Self::BuildId(id)
                }
            }
            (Some(id), _) => Self::BuildId(id),
            (None, Some(inode)) if options.trust_running_kernel => Self::Inode(inode),
            (None, _) => Self::Path,
        }
    }
}

/// Returns true if another file was put in the place of the recorded one before the recording ended: then the header lists
/// the build-id of that file.
fn was_replaced(module: &Module, inode: Inode, options: &FileOptions) -> bool {
    let root = Path::new("/");
    let path = recorded_path(module);
    let origin = Origin::Recording { root };
    let Ok(stat) = options.host.stat(&path, origin) else { return false };
    if stat.stamp.inode == inode.number && inode.generation == 0 {
        return false;
    }
    let Ok(file) = options.host.recorded_file(&path, origin) else { return false };
    // A file whose device differs by a new boot only is the same.
    let is_other = file.inode != inode.number || differs_in_generation(inode, &file);
    is_other && options.recorded_until.is_none_or(|end| file.changed < end)
}

/// Compares a file of this machine with a recorded identity.
pub(super) fn compare(inode: Inode, file: &RecordedFile, options: &FileOptions) -> InodeMatch {
    if file.inode != inode.number || differs_in_generation(inode, file) {
        return InodeMatch::Other(Difference::Inode);
    }
    let same_device = (file.major, file.minor) == (inode.major, inode.minor);
    if !same_device && is_of_this_boot(options) {
        return InodeMatch::Other(Difference::Inode);
    }
    let is_before = |time| options.recorded_until.is_none_or(|end| time <= end);
    if !is_before(file.modified) {
        return InodeMatch::Other(Difference::Written);
    }
    if same_device && file.is_unique && is_before(file.changed) {
        InodeMatch::Same
    } else {
        InodeMatch::Unknown
    }
}

fn differs_in_generation(inode: Inode, file: &RecordedFile) -> bool {
    inode.generation != 0
        && file.generation.is_some_and(|generation| generation != inode.generation)
}

/// Returns true if the recording was written since this machine was started, so that devices have the same numbers.
///
/// Source: proc(5), `btime` in `/proc/stat`: seconds since 1970.
fn is_of_this_boot(options: &FileOptions) -> bool {
    let Some(until) = options.recorded_until else { return true };
    let Ok(text) = options.host.read(Path::new("/proc/stat"), Origin::System) else { return true };
    let line = text.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(b"btime "));
    let seconds = line.and_then(|line| std::str::from_utf8(line).ok()?.trim().parse::<i128>().ok());
    seconds.is_none_or(|seconds| seconds * 1_000_000_000 <= until)
}

/// Compares a candidate with a recorded identity; `None` if it is not there.
pub(crate) fn compare_candidate(
    inode: Inode,
    candidate: &FileCandidate,
    options: &FileOptions,
) -> Option<InodeMatch> {
    let file = options.host.recorded_file(&candidate.path, candidate.origin()).ok()?;
    Some(compare(inode, &file, options))
}

/// Returns true if a line of `/proc/PID/maps` is of the file of a module: the same numbers if they were recorded, else the
/// same path.
pub(super) fn is_mapped_by(line: &MapsLine<'_>, module: &Module) -> bool {
    match module.identity.inode {
        Some(Inode { major, minor, number, .. }) => {
            (line.major, line.minor, line.inode) == (major, minor, number)
        }
        None => path_on_disk(line.path) == path_on_disk(&module.path),
    }
}

/// Returns true if a file at the recorded path of a module, or a copy of it, may be the recorded one.
pub(crate) fn may_be_at_path(module: &Module) -> bool {
    !module.is_deleted() && matches!(module.identity.path_use, PathUse::Only | PathUse::Last)
}
