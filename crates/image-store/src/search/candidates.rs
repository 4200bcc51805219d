//! Where the file of a module may be: candidates in the order in which they are tried. Whoever opens one checks it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use address::{BuildId, FileOffset};
use host::{Host, HostError, Origin};
use module_map::{Module, is_archive, path_on_disk};

use super::options::FileOptions;
use crate::elf::{Image, entry_named};

/// A path that may lead to a file, who named it, and the folder that it must not leave.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FileCandidate {
    pub(crate) path: PathBuf,
    named_by: NamedBy,
}

/// Who named a path; with the folder in which it is resolved, where strangers have a part in it.
#[derive(Clone, PartialEq, Eq, Debug)]
enum NamedBy {
    User,
    Recording { root: PathBuf },
    Stored { root: PathBuf },
    Process,
}

impl FileCandidate {
    /// A file that the user named.
    pub(crate) const fn of_user(path: PathBuf) -> Self {
        Self { path, named_by: NamedBy::User }
    }

    /// A path that a recording or an ELF file states, or that has a part of one in it, below `root`.
    pub(crate) fn recorded(root: &Path, path: PathBuf) -> Self {
        Self { path, named_by: NamedBy::Recording { root: root.to_owned() } }
    }

    /// A path that a build-id leads to, below `root`.
    pub(crate) fn stored(root: &Path, path: PathBuf) -> Self {
        Self { path, named_by: NamedBy::Stored { root: root.to_owned() } }
    }

    /// Returns true if the user named the file, or a folder that it is in.
    pub(crate) const fn is_of_user(&self) -> bool {
        matches!(self.named_by, NamedBy::User)
    }

    /// A link of `/proc/PID` to a file that the process has mapped.
    pub(crate) const fn of_process(path: PathBuf) -> Self {
        Self { path, named_by: NamedBy::Process }
    }

    /// A path that an ELF file names, seen from where that file is.
    pub(crate) fn beside(owner: &Image, options: &FileOptions, path: PathBuf) -> Self {
        let root = owner.root().unwrap_or_else(|| options.root_around(owner.path()));
        Self::recorded(root, path)
    }

    /// The archive, and the name in it, of a path that leads into one: `base.apk!/lib/arm64-v8a/libx.so`.
    ///
    /// Source: simpleperf's `read_apk.cpp`, `GetUrlInApk`.
    fn split_archive(&self) -> Option<(Self, &[u8])> {
        let bytes = self.path.as_os_str().as_bytes();
        let at = bytes.windows(2).position(|window| window == b"!/")?;
        let (archive, name) = (bytes.get(..at)?, bytes.get(at + 2..)?);
        let path = PathBuf::from(OsStr::from_bytes(archive));
        is_archive(archive).then(|| (Self { path, named_by: self.named_by.clone() }, name))
    }

    /// The archive that the path leads into, and where in it the file is stored; `None` where it leads into none, or
    /// nothing is stored there by that name.
    pub(crate) fn in_archive(
        &self,
        host: &dyn Host,
    ) -> Result<Option<(Self, FileOffset)>, HostError> {
        let Some((archive, name)) = self.split_archive() else { return Ok(None) };
        let content = host.open(&archive.path, archive.origin())?.content;
        Ok(entry_named(&content, name).map(|at| (archive, FileOffset(at.start as u64))))
    }

    /// Whom to say that the path is from.
    pub(crate) fn origin(&self) -> Origin<'_> {
        match &self.named_by {
            NamedBy::User => Origin::User,
            NamedBy::Recording { root } => Origin::Recording { root },
            NamedBy::Stored { root } => Origin::Stored { root },
            NamedBy::Process => Origin::Process,
        }
    }
}

/// The files of the recorded name that the user named: one by one, else in folders.
pub(crate) fn named_by_user(options: &FileOptions, recorded: &Path) -> Vec<FileCandidate> {
    let is_named = |path: &&PathBuf| path.file_name() == recorded.file_name();
    let named: Vec<FileCandidate> = user_files(options, is_named).collect();
    if named.is_empty() { options.extra.named(recorded.file_name()).collect() } else { named }
}

/// The places of a build-id in the build-id caches and the debug directories; `recorded` is the path that caches of older
/// recorders have it under.
pub(crate) fn places_of_id(
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

/// The places of a recorded path below the debug directories.
pub(crate) fn places_of_debug_files<'o>(
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

/// The places that a build-id alone leads to.
pub(crate) fn places_by_id(
    options: &FileOptions,
    id: BuildId,
) -> impl Iterator<Item = FileCandidate> + '_ {
    cached(options, id, "elf").into_iter().chain(debug_dirs_by_id(options, id))
}

/// The files that the user named, as far as they are wanted.
pub(crate) fn user_files<'o>(
    options: &'o FileOptions,
    wanted: impl Fn(&&PathBuf) -> bool + 'o,
) -> impl Iterator<Item = FileCandidate> + 'o {
    options.modules.iter().filter(wanted).cloned().map(FileCandidate::of_user)
}

/// The places of a recorded path: mapped as the user said, below each sysroot; where there is none, as it is.
pub(crate) fn places(options: &FileOptions, recorded: &Path) -> Vec<FileCandidate> {
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

/// What a mapped path must not leave: the folder that the user put in the place of the recorded one. Without a sysroot,
/// recorded paths are looked for everywhere, so that mapped ones may be links to anywhere, too.
fn root_of_mapped<'o>(options: &FileOptions, to: &'o [u8], rest: &[u8]) -> &'o Path {
    if options.sysroots.is_empty() {
        return Path::new("/");
    }
    let to_path = Path::new(OsStr::from_bytes(to));
    let is_folder = to.ends_with(b"/") || rest.starts_with(b"/");
    if is_folder { to_path } else { to_path.parent().unwrap_or(to_path) }
}

/// The entry of an id in the build-id caches: `what` in the directory of today's layout, or the file that older
/// recorders linked to.
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

/// The copies that a store has of a file of this recording, which is stated without a build-id.
pub(crate) fn recorded_copies<'o>(
    options: &'o FileOptions,
    module: &Module,
) -> impl Iterator<Item = FileCandidate> + 'o {
    let name = if options.recorded_copies.is_empty() { None } else { module.copy_name() };
    options.recorded_copies.iter().filter_map(move |dir| {
        Some(FileCandidate::stored(dir, dir.join(name.as_ref()?).join("elf")))
    })
}

/// The archives in the user's folders that have the name of the one that a path leads into, with what is in them.
pub(crate) fn in_archives(options: &FileOptions, recorded: &Path) -> Vec<FileCandidate> {
    let recorded = FileCandidate::of_user(recorded.to_owned());
    let Some((archive, name)) = recorded.split_archive() else { return Vec::new() };
    let found = options.extra.named(archive.path.file_name());
    let inside = |path: PathBuf| {
        PathBuf::from(OsString::from_vec([path.into_os_string().as_bytes(), b"!/", name].concat()))
    };
    found.map(|archive| FileCandidate { path: inside(archive.path), ..archive }).collect()
}

/// The recorded path, without the mark of a deleted file.
pub(crate) fn recorded_path(module: &Module) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(path_on_disk(&module.path)))
}

/// The places of the vdso of that build-id in the build-id caches.
pub(crate) fn cached_vdso(
    options: &FileOptions,
    id: BuildId,
) -> impl Iterator<Item = FileCandidate> + '_ {
    options.build_id_dirs.iter().map(move |dir| {
        FileCandidate::stored(dir, dir.join("[vdso]").join(id.to_string()).join("vdso"))
    })
}

/// A path below a root, whether it is absolute or not.
pub(crate) fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// A path with something appended to its last part.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// `ab/cdef…`: how build-id directories name an id.
pub(crate) fn split_id(id: BuildId) -> PathBuf {
    let hex = id.to_string();
    let (first, rest) = hex.split_at(hex.len().min(2));
    Path::new(first).join(rest)
}
