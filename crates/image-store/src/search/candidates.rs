//! Candidate paths for the file of a module, in order of preference. The caller verifies the opened file.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use address::{BuildId, FileOffset};
use host::{Host, HostError, Origin};
use module_map::{Module, is_archive, path_on_disk};

use super::options::FileOptions;
use crate::elf::{Image, entry_named};

/// A path that may lead to a file, its origin, and the folder that it must not leave.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FileCandidate {
    pub(crate) path: PathBuf,
    named_by: NamedBy,
}

/// Origin of a path. If it is partly untrusted, `root` is the folder for its resolution.
#[derive(Clone, PartialEq, Eq, Debug)]
enum NamedBy {
    User,
    Recording { root: PathBuf },
    Stored { root: PathBuf },
    Process,
}

impl FileCandidate {
    /// A file named by the user.
    pub(crate) const fn of_user(path: PathBuf) -> Self {
        Self { path, named_by: NamedBy::User }
    }

    /// A path from a recording or an ELF file, or with a part from one, below `root`.
    pub(crate) fn recorded(root: &Path, path: PathBuf) -> Self {
        Self { path, named_by: NamedBy::Recording { root: root.to_owned() } }
    }

    /// A path derived from a build-id, below `root`.
    pub(crate) fn stored(root: &Path, path: PathBuf) -> Self {
        Self { path, named_by: NamedBy::Stored { root: root.to_owned() } }
    }

    /// Returns true if the user named the file, or a folder that contains it.
    pub(crate) const fn is_of_user(&self) -> bool {
        matches!(self.named_by, NamedBy::User)
    }

    /// A link in `/proc/PID` to a file mapped by the process.
    pub(crate) const fn of_process(path: PathBuf) -> Self {
        Self { path, named_by: NamedBy::Process }
    }

    /// A path stated in an ELF file, relative to the location of that file.
    pub(crate) fn sibling(owner: &Image, options: &FileOptions, path: PathBuf) -> Self {
        let root = owner.root().unwrap_or_else(|| options.enclosing_root(owner.path()));
        Self::recorded(root, path)
    }

    /// Splits a path into an archive, `base.apk!/lib/arm64-v8a/libx.so`, into the archive and the name inside.
    ///
    /// Source: simpleperf's `read_apk.cpp`, `GetUrlInApk`.
    fn split_archive(&self) -> Option<(Self, &[u8])> {
        let bytes = self.path.as_os_str().as_bytes();
        let at = bytes.windows(2).position(|window| window == b"!/")?;
        let (archive, name) = (bytes.get(..at)?, bytes.get(at + 2..)?);
        let path = PathBuf::from(OsStr::from_bytes(archive));
        is_archive(archive).then(|| (Self { path, named_by: self.named_by.clone() }, name))
    }

    /// Returns the archive that the path leads into, and the offset of the file in it. `None` if it does not lead into
    /// an archive, or the archive does not store a file of that name.
    pub(crate) fn in_archive(
        &self,
        host: &dyn Host,
    ) -> Result<Option<(Self, FileOffset)>, HostError> {
        let Some((archive, name)) = self.split_archive() else { return Ok(None) };
        let content = host.open(&archive.path, archive.origin())?.content;
        Ok(entry_named(&content, name).map(|at| (archive, FileOffset(at.start as u64))))
    }

    /// Returns the origin to report to the host.
    pub(crate) fn origin(&self) -> Origin<'_> {
        match &self.named_by {
            NamedBy::User => Origin::User,
            NamedBy::Recording { root } => Origin::Recording { root },
            NamedBy::Stored { root } => Origin::Stored { root },
            NamedBy::Process => Origin::Process,
        }
    }
}

/// Returns the files of the recorded name that the user named: individual files, otherwise files in folders.
pub(crate) fn named_by_user(options: &FileOptions, recorded: &Path) -> Vec<FileCandidate> {
    let is_named = |path: &&PathBuf| path.file_name() == recorded.file_name();
    let named: Vec<FileCandidate> = user_files(options, is_named).collect();
    if named.is_empty() { options.extra.named(recorded.file_name()).collect() } else { named }
}

/// Returns the candidate paths of a build-id in the build-id caches and debug directories.
/// `recorded` is its path in caches of older recorders.
pub(crate) fn paths_of_id(
    options: &FileOptions,
    id: BuildId,
    recorded: Option<&PathBuf>,
) -> Vec<FileCandidate> {
    let mut found = cached(options, id, "elf");
    if let Some(recorded) = recorded {
        let entry = |dir: &PathBuf| below(dir, recorded).join(id.to_string()).join("elf");
        let entry = |dir: &PathBuf| FileCandidate::recorded(dir, entry(dir));
        found.extend(options.build_id_dirs.iter().map(entry));
    }
    found.extend(debug_dirs_by_id(options, id));
    found
}

/// Returns the candidate paths of a recorded path below the debug directories.
pub(crate) fn paths_of_debug_files<'o>(
    options: &'o FileOptions,
    recorded: &'o Path,
) -> impl Iterator<Item = FileCandidate> + 'o {
    options.debug_dirs.iter().map(move |dir| {
        FileCandidate::recorded(options.root_of_debug_dir(dir), below(dir, recorded))
    })
}

fn debug_dirs_by_id(
    options: &FileOptions,
    id: BuildId,
) -> impl Iterator<Item = FileCandidate> + '_ {
    options.debug_dirs.iter().map(move |dir| {
        let entry = dir.join(".build-id").join(split_id(id));
        FileCandidate::stored(options.root_of_debug_dir(dir), entry)
    })
}

/// Returns the candidate paths that depend only on a build-id.
pub(crate) fn paths_by_id(
    options: &FileOptions,
    id: BuildId,
) -> impl Iterator<Item = FileCandidate> + '_ {
    cached(options, id, "elf").into_iter().chain(debug_dirs_by_id(options, id))
}

/// Returns the individual files named by the user that satisfy `wanted`.
pub(crate) fn user_files<'o>(
    options: &'o FileOptions,
    wanted: impl Fn(&&PathBuf) -> bool + 'o,
) -> impl Iterator<Item = FileCandidate> + 'o {
    options.modules.iter().filter(wanted).cloned().map(FileCandidate::of_user)
}

/// Returns the candidate paths of a recorded path: mapped by the user, and below each sysroot;
/// without sysroots, the path itself.
pub(crate) fn recorded_paths(options: &FileOptions, recorded: &Path) -> Vec<FileCandidate> {
    let bytes = recorded.as_os_str().as_bytes();
    let mapped = options.path_map.iter().filter_map(|(from, to)| {
        let rest = bytes.strip_prefix(from.as_slice())?;
        let path = PathBuf::from(OsString::from_vec([to.as_slice(), rest].concat()));
        Some(FileCandidate::recorded(root_of_mapped(options, to, rest), path))
    });
    let whole = Path::new("/");
    let as_it_is = options.sysroots.is_empty().then(|| recorded.to_owned());
    let as_it_is = as_it_is.map(|path| FileCandidate::recorded(whole, path));
    let in_sysroots =
        options.sysroots.iter().map(|root| FileCandidate::recorded(root, below(root, recorded)));
    mapped.chain(as_it_is).chain(in_sysroots).collect()
}

/// Returns the folder that a mapped path must not leave: the user's replacement folder.
/// Without a sysroot, recorded paths are resolved on the whole system, so mapped ones may be
/// links to any location, too.
fn root_of_mapped<'o>(options: &FileOptions, to: &'o [u8], rest: &[u8]) -> &'o Path {
    if options.sysroots.is_empty() {
        return Path::new("/");
    }
    let to_path = Path::new(OsStr::from_bytes(to));
    let is_folder = to.ends_with(b"/") || rest.starts_with(b"/");
    if is_folder { to_path } else { to_path.parent().unwrap_or(to_path) }
}

/// Returns the entries of an id in the build-id caches: `what` in the directory of the current
/// layout, and the file that older recorders linked to.
///
/// Source: `tools/perf/util/build-id.c`, `build_id_cache__linkname`, `__dso__build_id_filename`.
pub(crate) fn cached(options: &FileOptions, id: BuildId, what: &str) -> Vec<FileCandidate> {
    let mut found = Vec::new();
    for dir in &options.build_id_dirs {
        let entry = dir.join(".build-id").join(split_id(id));
        found.extend([entry.join(what), entry].map(|path| FileCandidate::stored(dir, path)));
    }
    found
}

/// Returns the copies in a store of a file that the recording states without a build-id.
pub(crate) fn recorded_copies<'o>(
    options: &'o FileOptions,
    module: &Module,
) -> impl Iterator<Item = FileCandidate> + 'o {
    let name = if options.recorded_copies.is_empty() { None } else { module.copy_name() };
    options.recorded_copies.iter().filter_map(move |dir| {
        Some(FileCandidate::stored(dir, dir.join(name.as_ref()?).join("elf")))
    })
}

/// Returns the inner paths in the user's archives with the name of the archive that a recorded path leads into.
pub(crate) fn in_archives(options: &FileOptions, recorded: &Path) -> Vec<FileCandidate> {
    let recorded = FileCandidate::of_user(recorded.to_owned());
    let Some((archive, name)) = recorded.split_archive() else { return Vec::new() };
    let found = options.extra.named(archive.path.file_name());
    let inside = |path: PathBuf| {
        PathBuf::from(OsString::from_vec([path.into_os_string().as_bytes(), b"!/", name].concat()))
    };
    found.map(|archive| FileCandidate { path: inside(archive.path), ..archive }).collect()
}

/// Returns the recorded path, without the mark of a deleted file.
pub(crate) fn recorded_path(module: &Module) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(path_on_disk(&module.path)))
}

/// Returns the candidate paths of a vdso in the build-id caches.
pub(crate) fn cached_vdso(
    options: &FileOptions,
    id: BuildId,
) -> impl Iterator<Item = FileCandidate> + '_ {
    options.build_id_dirs.iter().map(move |dir| {
        FileCandidate::stored(dir, dir.join("[vdso]").join(id.to_string()).join("vdso"))
    })
}

/// Joins a path, absolute or relative, to a root.
pub(crate) fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// Appends a suffix to a file name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Returns `ab/cdef…`, the path of an id in build-id directories.
pub(crate) fn split_id(id: BuildId) -> PathBuf {
    let hex = id.to_string();
    let (first, rest) = hex.split_at(hex.len().min(2));
    Path::new(first).join(rest)
}
