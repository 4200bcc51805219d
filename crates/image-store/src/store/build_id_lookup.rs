//! Lookups without a recording: by build-id for the kernel and for requests, and by path.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use address::BuildId;

use super::debug;
use super::images::ImageStore;
use super::loaded::LoadedImage;
use super::shared::Form;
use crate::elf::{Image, ImageError};
use crate::identity::LoadError;
use crate::kernel;
use crate::search::{FetchKind, FileCandidate, cached_vdso, paths_by_id, user_files};

impl ImageStore {
    /// Returns the image of the kernel or of a kernel module by its build-id.
    /// `name` is the kernel's own (`[kernel.kallsyms]`, `[nf_tables]`) or the path of a module's file.
    ///
    /// # Errors
    /// If no file can be used for it.
    pub fn kernel_file(&self, name: &[u8], id: BuildId) -> Result<Arc<LoadedImage>, LoadError> {
        if let Some(image) = self.opened_by_id(id) {
            return Ok(image);
        }
        let mut error = None;
        let fetched = || self.options().fetched(id, FetchKind::DebugInfo);
        let fetched = std::iter::once_with(fetched).flatten().map(FileCandidate::of_user);
        let may_hold = |path: &Path, bytes| self.may_hold(path, bytes);
        let lists = kernel::LimitedLists { lists: &self.module_lists, may_hold: &may_hold };
        let found = kernel::candidates(self.options(), lists, name, id)
            .into_iter()
            .chain(self.files_with_id(id))
            .chain(fetched)
            .find_map(|candidate| {
                let loaded = self.open(&candidate, Form::Kernel).ok()?;
                match loaded.image().build_id() {
                    Some(found) if found.matches(&id) => Some(loaded),
                    found => {
                        let path = candidate.path;
                        error.get_or_insert(LoadError::BuildId { path, recorded: id, found });
                        None
                    }
                }
            });
        let name = String::from_utf8_lossy(name).into_owned();
        found.ok_or_else(|| error.unwrap_or(LoadError::Missing(PathBuf::from(name))))
    }

    /// Returns the file of a build-id without a module.
    /// Searches the user's files, the candidate paths by build-id, the known `earlier_paths`, and servers.
    /// `name` is that of the kernel or a kernel module (`[kernel.kallsyms]`), or any other name.
    ///
    /// # Errors
    /// If there is none.
    pub fn file_by_id(
        &self,
        name: &[u8],
        id: BuildId,
        earlier_paths: &[PathBuf],
    ) -> Result<Arc<LoadedImage>, LoadError> {
        if name.starts_with(b"[") && !name.starts_with(b"[vdso") {
            return self.kernel_file(name, id);
        }
        if let Some(image) = self.opened_by_id(id) {
            return Ok(image);
        }
        let earlier_files = earlier_paths.iter();
        let earlier_files =
            earlier_files.map(|path| FileCandidate::stored(Path::new("/"), path.clone()));
        let found = user_files(self.options(), |_| true)
            .chain(earlier_files)
            .chain(paths_by_id(self.options(), id))
            .chain(cached_vdso(self.options(), id))
            .chain(self.files_with_id(id));
        self.first_of(found, Some(id), Form::Whole)?.ok_or_else(|| {
            LoadError::Missing(PathBuf::from(String::from_utf8_lossy(name).into_owned()))
        })
    }

    /// Returns the file at a path that the user or this system names.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn file_at(&self, path: &Path) -> Result<Arc<LoadedImage>, Arc<ImageError>> {
        self.open(&FileCandidate::of_user(path.to_owned()), Form::Whole)
    }

    /// Returns the separate debug file of a build-id, without its program.
    #[must_use]
    pub fn debug_file_by_id(&self, id: BuildId) -> Option<Arc<Image>> {
        debug::find_by_id(id, self).map(Arc::new)
    }
}
