//! Rule that decides whether a file of this machine is the recorded one: the evidence in the recording, strongest
//! first.
//!
//! | evidence | decides if | contradiction |
//! |---|---|---|
//! | build-id in the map record | always | another build-id |
//! | build-id of the path in the header | the path led to one file, intact until recording ended | another build-id |
//! | device, inode, generation in the map | files of the recorded machine | another inode; written after recording |
//! | none of these | | the path led to another file last; several files of that name |
//!
//! Weaker evidence never overrules stronger evidence. `docs/FILES.md` states the rule for users.

use std::path::Path;

use address::BuildId;
use host::{MapsLine, Origin, RecordedFile};
use module_map::{Inode, Module, PathUse, path_on_disk};

use crate::search::{FileCandidate, FileOptions, recorded_path};

/// Proof that a file is the recorded one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileProof {
    /// Its build-id.
    BuildId,
    /// Its device, inode and generation, on the recorded machine.
    Inode,
    /// The user, a dump of JIT code or the running kernel gave the file for this module.
    UserNamed,
    /// No proof: only the recorded path or name match.
    None,
}

impl FileProof {
    /// Keyword for programs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BuildId => "build-id",
            Self::Inode => "inode",
            Self::UserNamed => "given",
            Self::None => "none",
        }
    }
}

/// Deciding evidence for the file of a module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MatchEvidence {
    /// The file must have this build-id.
    BuildId(BuildId),
    /// The file must have this identity on this machine.
    Inode(Inode),
    /// Only the path.
    Path,
}

/// Result of comparing a file with the recorded identity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InodeMatch {
    Same,
    /// Neither contradicted nor proven.
    Unknown,
    Other(Difference),
}

/// A contradiction between a file and the recorded identity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Difference {
    /// Another inode, or the same number on another device or with another generation.
    Inode,
    /// The content was written after the recording ended.
    Written,
}

impl MatchEvidence {
    /// Returns the deciding evidence for a module.
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

/// Returns true if the recorded file was replaced by another before the recording ended. The
/// header then lists the build-id of the new file.
fn was_replaced(module: &Module, inode: Inode, options: &FileOptions) -> bool {
    let root = Path::new("/");
    let path = recorded_path(module);
    let origin = Origin::Recording { root };
    let Ok(stat) = options.host.stat(&path, origin) else { return false };
    if stat.stamp.inode == inode.number && inode.generation == 0 {
        return false;
    }
    let Ok(file) = options.host.recorded_file(&path, origin) else { return false };
    // A device number alone can change at a reboot.
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

/// Returns true if the recording was written after the last boot of this machine, so that device numbers are the same.
///
/// Source: proc(5), `btime` in `/proc/stat`: seconds since 1970.
fn is_of_this_boot(options: &FileOptions) -> bool {
    let Some(until) = options.recorded_until else { return true };
    let Ok(text) = options.host.read(Path::new("/proc/stat"), Origin::System) else { return true };
    let line = text.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(b"btime "));
    let seconds = line.and_then(|line| std::str::from_utf8(line).ok()?.trim().parse::<i128>().ok());
    seconds.is_none_or(|seconds| seconds * 1_000_000_000 <= until)
}

/// Compares a candidate with a recorded identity; `None` if it does not exist.
pub(crate) fn compare_candidate(
    inode: Inode,
    candidate: &FileCandidate,
    options: &FileOptions,
) -> Option<InodeMatch> {
    let file = options.host.recorded_file(&candidate.path, candidate.origin()).ok()?;
    Some(compare(inode, &file, options))
}

/// Returns true if a line of `/proc/PID/maps` shows the file of a module: with the same device and inode if
/// they were recorded, otherwise with the same path.
pub(super) fn is_mapped_by(line: &MapsLine<'_>, module: &Module) -> bool {
    match module.identity.inode {
        Some(Inode { major, minor, number, .. }) => {
            (line.major, line.minor, line.inode) == (major, minor, number)
        }
        None => path_on_disk(line.path) == path_on_disk(&module.path),
    }
}

/// Returns true if the file at a module's recorded path, or a copy of it, may be the recorded one.
pub(crate) fn may_be_at_path(module: &Module) -> bool {
    !module.is_deleted() && matches!(module.identity.path_use, PathUse::Only | PathUse::Last)
}
