//! Recorded names of the files that were found, under which other programs look for them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use address::BuildId;
use profile::{ModuleKind, Profile};

/// Recorded names of files, and the recorded kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedFiles {
    /// Path of a mapped file as recorded, and the path of the opened file.
    pub files: Vec<(PathBuf, PathBuf)>,
    /// Build-id of the kernel.
    pub kernel: Option<BuildId>,
}

impl RecordedFiles {
    /// Returns the mapped files and the kernel of a profile.
    #[must_use]
    pub fn of(profile: &Profile) -> Self {
        let path = |id| Path::new(OsStr::from_bytes(profile.strings.get(id)));
        let opened = profile.modules.iter().filter(|module| module.kind == ModuleKind::Elf);
        let files = opened.filter_map(|module| {
            Some((path(module.path).to_owned(), path(module.opened?).to_owned()))
        });
        let mut kernels = profile.modules.iter().filter(|module| {
            let name = path(module.path).as_os_str().as_bytes();
            module.kind == ModuleKind::Kernel && name.starts_with(b"[kernel.kallsyms]")
        });
        let kernel = kernels.find_map(|module| module.build_id);
        Self { files: files.collect(), kernel }
    }
}
