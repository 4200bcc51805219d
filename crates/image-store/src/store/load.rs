//! Search for the file of a module, according to the deciding evidence.

use std::path::Path;
use std::sync::Arc;

use address::BuildId;
use module_map::{Inode, MappedKind, Module, PathUse, path_on_disk};

use crate::identity::{
    FileProof, InodeMatch, LiveFiles, LoadError, MatchEvidence, compare_candidate, live_files,
    may_be_at_path,
};
use crate::search::{
    FetchKind, FileCandidate, in_archives, named_by_user, paths_of_debug_files, paths_of_id,
    recorded_copies, recorded_path, recorded_paths, user_files,
};
use crate::store::images::ImageStore;
use crate::store::loaded::LoadedImage;
use crate::store::outcomes::{FoundImage, ImageOutcome};
use crate::store::shared::Form;

impl ImageStore {
    /// Returns the deciding build-id of a module: from its map record, or the listed one if
    /// that can be of the recorded file. Opens no file.
    #[must_use]
    pub fn deciding_build_id(&self, module: &Module) -> Option<BuildId> {
        match MatchEvidence::of(module, self.options()) {
            MatchEvidence::BuildId(id) => Some(id),
            MatchEvidence::Inode(_) | MatchEvidence::Path => None,
        }
    }

    /// Finds and opens the file of a module.
    pub(in crate::store) fn load_file(&self, module: &Module) -> ImageOutcome {
        if let Some(image) = self.user_named(module) {
            return Ok(FoundImage { image: image?, proof: FileProof::UserNamed });
        }
        match MatchEvidence::of(module, self.options()) {
            MatchEvidence::BuildId(id) => self.by_build_id(module, id),
            MatchEvidence::Inode(inode) => self.by_inode(module, inode),
            MatchEvidence::Path => self.by_path(module),
        }
    }

    /// Returns the file that the user assigned to the recorded path or name of a module.
    fn user_named(&self, module: &Module) -> Option<Result<Arc<LoadedImage>, LoadError>> {
        use std::os::unix::ffi::OsStrExt as _;
        let path = path_on_disk(&module.path);
        let name = Path::new(std::ffi::OsStr::from_bytes(path)).file_name();
        let is_meant = |recorded: &[u8]| {
            recorded == path
                || recorded == &*module.path
                || name.is_some_and(|name| name.as_bytes() == recorded)
        };
        let given = self.options().given.iter().find(|(recorded, _)| is_meant(recorded));
        let (_, file) = given?;
        let form = form_of(module);
        let opened = self.open(&FileCandidate::of_user(file.clone()), form);
        Some(opened.map_err(LoadError::Unusable))
    }

    fn by_build_id(&self, module: &Module, id: BuildId) -> ImageOutcome {
        // The same library in an archive has other offsets.
        if module.part.is_none()
            && let Some(image) = self.opened_by_id(id)
        {
            return Ok(FoundImage { image, proof: FileProof::BuildId });
        }
        let options = self.options();
        // Without a path that may be opened, only the build-id can locate the file.
        let by_path = module.kind == MappedKind::File;
        let recorded = recorded_path(module);
        let is_named =
            |path: &&std::path::PathBuf| by_path && path.file_name() == recorded.file_name();
        let mut found: Vec<FileCandidate> = user_files(options, is_named).collect();
        found.extend(user_files(options, |path| !is_named(path)));
        if by_path {
            found.extend(options.extra.named(recorded.file_name()));
            found.extend(in_archives(options, &recorded));
            found.extend(recorded_paths(options, &recorded));
        }
        found.extend(live_files(options, module).into_all());
        found.extend(paths_of_id(options, id, by_path.then_some(&recorded)));
        if by_path {
            found.extend(paths_of_debug_files(options, &recorded));
        }
        let by_content = (module.part.is_none()).then_some(id).into_iter();
        let found = found.into_iter().chain(by_content.flat_map(|id| self.files_with_id(id)));
        let image = self.first_of(found, Some(id), form_of(module))?;
        found_or_missing(image, FileProof::BuildId, module)
    }

    /// On the recorded machine: returns the file with the recorded identity, otherwise a copy named by the user.
    fn by_inode(&self, module: &Module, inode: Inode) -> ImageOutcome {
        let options = self.options();
        let recorded = recorded_path(module);
        let form = form_of(module);
        let (mut refused, mut unproven) = (None, Vec::new());
        let named = user_files(options, |_| true)
            .chain(options.extra.named(recorded.file_name()))
            .chain(recorded_paths(options, &recorded));
        let mut take =
            |candidate: FileCandidate| match compare_candidate(inode, &candidate, options) {
                Some(InodeMatch::Same) => Some(candidate),
                Some(InodeMatch::Unknown) => {
                    unproven.push(candidate);
                    None
                }
                Some(InodeMatch::Other(difference)) if candidate.path == recorded => {
                    refused = Some(LoadError::OtherFile { path: candidate.path, difference });
                    None
                }
                Some(InodeMatch::Other(_)) | None => None,
            };
        let mut proven = named.filter_map(&mut take).next();
        if proven.is_none() {
            let LiveFiles { mapped, others } = live_files(options, module);
            proven = others.into_iter().filter_map(&mut take).next().or(mapped);
        }
        // The recorder compared the file before it copied it.
        let proven = proven.into_iter().chain(recorded_copies(options, module));
        if let Some(image) = self.first_of(proven, None, form)? {
            return Ok(FoundImage { image, proof: FileProof::Inode });
        }
        if unproven.is_empty() && may_be_copied(module) {
            // A copy has a different inode.
            unproven = self.named_copies(module)?;
            let mapped = recorded_paths(options, &recorded).into_iter();
            unproven.extend(mapped.filter(|candidate| candidate.path != recorded));
            unproven.extend(in_archives(options, &recorded));
        }
        match self.first_of(unproven.into_iter(), None, form)? {
            Some(image) => Ok(FoundImage { image, proof: FileProof::None }),
            None => Err(refused.filter(|_| !module.is_deleted()).unwrap_or_else(|| absent(module))),
        }
    }

    /// Returns a file found by its path or name only.
    fn by_path(&self, module: &Module) -> ImageOutcome {
        let options = self.options();
        let recorded = recorded_path(module);
        let copies = recorded_copies(options, module);
        if let Some(image) = self.first_of(copies, None, form_of(module))? {
            return Ok(FoundImage { image, proof: FileProof::Inode });
        }
        let mut found = Vec::new();
        if may_be_copied(module) {
            found.extend(self.named_copies(module)?);
        }
        if may_be_at_path(module) {
            found.extend(in_archives(options, &recorded));
            found.extend(recorded_paths(options, &recorded));
            found.extend(live_files(options, module).into_all());
            found.extend(paths_of_debug_files(options, &recorded));
        }
        match self.first_of(found.into_iter(), None, form_of(module))? {
            Some(image) => Ok(FoundImage { image, proof: FileProof::None }),
            None => Err(absent(module)),
        }
    }

    /// Returns the files of the recorded name that the user named, individually or by folder.
    ///
    /// # Errors
    /// If they differ: at most one of them is the recorded one.
    fn named_copies(&self, module: &Module) -> Result<Vec<FileCandidate>, LoadError> {
        let named = named_by_user(self.options(), &recorded_path(module));
        let mut opened = named
            .iter()
            .filter_map(|candidate| Some((candidate, self.open(candidate, form_of(module)).ok()?)));
        if let Some((first, image)) = opened.next()
            && let Some((second, _)) =
                opened.find(|(_, other)| image.image().bytes() != other.image().bytes())
        {
            let (first, second) = (first.path.clone(), second.path.clone());
            return Err(LoadError::Ambiguous { first, second });
        }
        Ok(named)
    }

    /// Returns the first candidate with code and the requested build-id; the last candidate is
    /// from a server. `None` if there is none.
    pub(in crate::store) fn first_of(
        &self,
        found: impl Iterator<Item = FileCandidate>,
        wanted: Option<BuildId>,
        form: Form,
    ) -> Result<Option<Arc<LoadedImage>>, LoadError> {
        let mut refused = None;
        let fetched = || {
            let path = self.options().fetched(wanted?, FetchKind::Executable)?;
            Some(FileCandidate::of_user(path))
        };
        for candidate in found.chain(std::iter::once_with(fetched).flatten()) {
            match self.open(&candidate, form) {
                Ok(loaded) => match (wanted, loaded.image().build_id()) {
                    (Some(recorded), found) if !found.is_some_and(|id| id.matches(&recorded)) => {
                        let path = candidate.path;
                        refused.get_or_insert(LoadError::BuildId { path, recorded, found });
                    }
                    // A debug file of that id has no code: it serves for symbols, not for unwinding.
                    _ if loaded.image().is_stripped_of_code() => {}
                    _ => return Ok(Some(loaded)),
                },
                Err(error) => {
                    if !error.is_missing() {
                        refused.get_or_insert(LoadError::Unusable(error));
                    }
                }
            }
        }
        refused.map_or(Ok(None), Err)
    }
}

fn form_of(module: &Module) -> Form {
    module.part.map_or(Form::Whole, Form::Part)
}

/// Returns true if a file of the recorded name in another location may belong to this module only.
fn may_be_copied(module: &Module) -> bool {
    module.identity.path_use == PathUse::Only || may_be_at_path(module)
}

fn found_or_missing(
    image: Option<Arc<LoadedImage>>,
    proof: FileProof,
    module: &Module,
) -> ImageOutcome {
    let missing = || LoadError::Missing(recorded_path(module));
    image.map(|image| FoundImage { image, proof }).ok_or_else(missing)
}

/// Returns the reason why no file may be used for a module.
fn absent(module: &Module) -> LoadError {
    let path = recorded_path(module);
    match module.identity.path_use {
        _ if module.is_deleted() => LoadError::Deleted(path),
        PathUse::Only | PathUse::Last => LoadError::Missing(path),
        PathUse::Earlier => LoadError::Replaced(path),
        PathUse::Shared => LoadError::Shared(path),
    }
}
