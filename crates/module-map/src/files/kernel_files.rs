//! Where the kernel and its modules are on disk. Names only lead to candidates; the build-id decides, whatever a file
//! is called and however it is packed.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use address::BuildId;

use super::find::{below, cached, split_id};
use super::options::FileOptions;
use crate::elf::FileBytes;
use crate::elf::unpack;
use crate::elf::{Image, ImageError};
use crate::elf::{SectionLayout, link};
use crate::module::kernel_module_name;

/// All paths where the file may be: what the user named, the build-id caches and debug directories by id, then the
/// usual places of the recorded release.
pub(crate) fn candidates<'o>(
    options: &'o FileOptions,
    name: &[u8],
    id: BuildId,
) -> impl Iterator<Item = PathBuf> + 'o {
    let is_kernel = name.starts_with(b"[kernel") || name.starts_with(b"[guest.kernel");
    let mut paths = options.modules.clone();
    paths.extend(cached(options, id, "debug"));
    paths.extend(cached(options, id, "elf"));
    for dir in &options.debug_dirs {
        let entry = dir.join(".build-id").join(split_id(id));
        let mut debug = entry.clone().into_os_string();
        debug.push(".debug");
        paths.extend([PathBuf::from(debug), entry]);
    }
    let release = options.kernel_release.as_deref().map(OsStr::from_bytes);
    for root in options.roots() {
        if is_kernel {
            paths.extend(release.iter().flat_map(|release| kernels(root, release)));
            paths.push(root.join("boot/vmlinux"));
        } else {
            paths.extend(modules(root, release, name));
        }
    }
    paths.into_iter()
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
fn modules(root: &Path, release: Option<&OsStr>, name: &[u8]) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let mut add = |path: &Path| {
        let debug = below(&root.join("usr/lib/debug"), path);
        for suffix in ["", ".debug"] {
            let mut path = debug.clone().into_os_string();
            path.push(suffix);
            paths.push(PathBuf::from(path));
        }
        paths.push(below(root, path));
    };
    if name.starts_with(b"/") {
        add(Path::new(OsStr::from_bytes(name)));
    }
    if let Some(release) = release {
        let dir = Path::new("/lib/modules").join(release);
        let list = fs::read(below(root, &dir).join("modules.dep")).unwrap_or_default();
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

/// Opens a kernel or module file: unpacked where it is packed, laid out as the kernel lays it out where it is
/// relocatable.
pub(crate) fn open(path: &Path) -> Result<Image, ImageError> {
    let bytes = FileBytes::map(path)?;
    let io = |source| ImageError::Io { path: path.to_owned(), source };
    let image = match unpack(bytes.as_slice()).map_err(io)? {
        std::borrow::Cow::Owned(unpacked) => Image::from_vec(path, unpacked)?,
        std::borrow::Cow::Borrowed(_) => Image::open(path)?,
    };
    if !image.is_relocatable() {
        return Ok(image);
    }
    Image::from_vec(path, link(path, image.bytes(), SectionLayout::KernelModule)?)
}
