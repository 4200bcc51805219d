//! Where the kernel and its modules are on disk. Names only lead to candidates; the build-id decides, whatever a file
//! is called and however it is compressed.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use address::BuildId;
use host::{Content, HostError, Origin};

use super::candidates::{FileCandidate, below, cached, split_id, user_files, with_suffix};
use super::options::FileOptions;
use crate::elf::{ElfData, ImageError, SectionLayout, link, unpack};
use crate::module::kernel_module_name;

/// All places where the file may be: what the user named, the build-id caches and debug directories by id, then the
/// usual places of the recorded release.
pub(crate) fn candidates(options: &FileOptions, name: &[u8], id: BuildId) -> Vec<FileCandidate> {
    let is_kernel = name.starts_with(b"[kernel") || name.starts_with(b"[guest.kernel");
    let mut found: Vec<FileCandidate> = user_files(options, |_| true).collect();
    found.extend(cached(options, id, "debug"));
    found.extend(cached(options, id, "elf"));
    for dir in &options.debug_dirs {
        let entry = dir.join(".build-id").join(split_id(id));
        found.extend([with_suffix(&entry, ".debug"), entry].map(FileCandidate::of_system));
    }
    let release = options.kernel_release.as_deref().map(OsStr::from_bytes);
    for root in options.roots() {
        if is_kernel {
            let paths = release.iter().flat_map(|release| kernels(root, release));
            found.extend(paths.map(FileCandidate::recorded));
            found.push(FileCandidate::of_system(root.join("boot/vmlinux")));
        } else {
            found.extend(
                modules(options, root, release, name).into_iter().map(FileCandidate::recorded),
            );
        }
    }
    found
}

/// Source: `vmlinux_paths` in `tools/perf/util/symbol.c`, and where distributions put the file.
fn kernels(root: &Path, release: &OsStr) -> Vec<PathBuf> {
    let release = release.to_string_lossy();
    [
        format!("usr/lib/debug/boot/vmlinux-{release}"),
        format!("usr/lib/debug/lib/modules/{release}/vmlinux"),
        format!("usr/lib/debug/boot/vmlinux-{release}.debug"),
        format!("boot/vmlinux-{release}"),
        format!("lib/modules/{release}/build/vmlinux"),
        format!("lib/modules/{release}/vmlinux"),
    ]
    .map(|path| root.join(path))
    .to_vec()
}

/// The file of a module below a root: its recorded path and the debug file beside it under `/usr/lib/debug`, else the
/// paths of that name that `modules.dep` lists.
fn modules(
    options: &FileOptions,
    root: &Path,
    release: Option<&OsStr>,
    name: &[u8],
) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let mut add = |path: &Path| {
        let debug = below(&root.join("usr/lib/debug"), path);
        paths.extend([debug.clone(), with_suffix(&debug, ".debug"), below(root, path)]);
    };
    if name.starts_with(b"/") {
        add(Path::new(OsStr::from_bytes(name)));
    }
    if let Some(release) = release {
        let dir = Path::new("/lib/modules").join(release);
        let list = below(root, &dir).join("modules.dep");
        let list = options.host.read(&list, Origin::Recording).unwrap_or_default();
        let wanted = kernel_module_name(name);
        for line in list.split(|&byte| byte == b'\n') {
            let path = line.split(|&byte| byte == b':').next().unwrap_or_default();
            if !path.is_empty() && kernel_module_name(path) == wanted {
                add(&dir.join(OsStr::from_bytes(path)));
            }
        }
    }
    paths
}

/// Reads a kernel or module file: unpacked where it is compressed, laid out as the kernel lays it out where it is
/// relocatable.
pub(crate) fn parse(path: &Path, content: Content) -> Result<ElfData, ImageError> {
    let io = |source| HostError::Io { path: path.to_owned(), source };
    let unpacked = match unpack(&content).map_err(io)? {
        Cow::Owned(unpacked) => Content::from(unpacked),
        Cow::Borrowed(_) => content.clone(),
    };
    let data = ElfData::parse(path, unpacked)?;
    if !data.is_relocatable() {
        return Ok(data);
    }
    let linked = link(path, data.bytes(), SectionLayout::KernelModule)?;
    ElfData::parse(path, Content::from(linked))
}
