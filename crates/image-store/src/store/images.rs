//! Images of modules: found, opened, checked against the recorded identity, and shared by content.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use address::{Avma, BuildId, Pid};
use budget::{HeldMemory, MemoryUse, Resource, SharedAllowance};
use hashbrown::{HashMap, HashSet};
use host::{Damage, HostError, HostFile, HostText};
use module_map::{MappedKind, Module};

use super::by_content::FilesByContent;
use super::debug;
use super::jit::PerfMapCache;
use super::loaded::{LoadedImage, mark_of};
use super::outcomes::{FoundImage, ImageOutcome, ImageOutcomes};
use super::shared::{ContentKey, Form, SharedImages};
use crate::elf::{ElfData, Image, ImageError, OmittedPart};
use crate::identity::{FileProof, LoadError, live_root};
use crate::kernel;
use crate::kernel::ModuleLists;
use crate::search::{
    FileCandidate, FileFinding, FileFindingKind, FileFindings, FileOptions, RemappedText,
    RemappedTexts, below, recorded_paths,
};

/// Opens images for the modules of one run and stores the results. Missing files are remembered for this run only.
/// Opened files are stored in [`SharedImages`], which other runs may share.
#[derive(Debug)]
pub struct ImageStore {
    options: FileOptions,
    shared: Arc<SharedImages>,
    /// Hash of the places that are searched for debug files.
    debug_search: u64,
    run: Mutex<RunImages>,
    outcomes: ImageOutcomes,
    pub(super) module_lists: ModuleLists,
    pub(super) contents: FilesByContent,
    pub(super) perf_maps: PerfMapCache,
    findings: FileFindings,
    remapped_texts: RemappedTexts,
    /// Memory-mapped files, which other programs may truncate.
    mapped: Mutex<Vec<(PathBuf, Damage)>>,
    /// Remaining memory for the contents of files.
    held: Arc<SharedAllowance>,
    /// Memory taken by the results per module.
    noted: Mutex<HeldMemory>,
}

/// A path, the root of its resolution, and the form of the opened file.
type PathKey = (PathBuf, Option<PathBuf>, Form);

#[derive(Debug, Default)]
struct RunImages {
    by_path: HashMap<PathKey, Result<Arc<LoadedImage>, Arc<ImageError>>>,
    by_id: HashMap<BuildId, Arc<LoadedImage>>,
    provided: HashMap<Box<[u8]>, Arc<LoadedImage>>,
    /// Serials used by this run: two paths give two images, even if they lead to the same file.
    serials: HashSet<u32>,
}

impl Default for ImageStore {
    fn default() -> Self {
        Self::new(FileOptions::default())
    }
}

impl ImageStore {
    /// Creates a store that shares its files with no other run.
    #[must_use]
    pub fn new(options: FileOptions) -> Self {
        Self::sharing(options, Arc::default())
    }

    /// Creates a store for one run that shares opened files through `shared`.
    #[must_use]
    pub fn sharing(options: FileOptions, shared: Arc<SharedImages>) -> Self {
        let held = options.budget.shared_allowance(Resource::HeldInAll, 0);
        let held = held.held_in(&options.memory, MemoryUse::Files);
        Self {
            noted: Mutex::new(HeldMemory::new(&options.memory, MemoryUse::Processes)),
            debug_search: options.debug_search(),
            shared,
            run: Mutex::default(),
            outcomes: ImageOutcomes::default(),
            perf_maps: PerfMapCache::default(),
            module_lists: ModuleLists::default(),
            contents: FilesByContent::default(),
            findings: FileFindings::default(),
            remapped_texts: RemappedTexts::default(),
            mapped: Mutex::default(),
            held: Arc::new(held),
            options,
        }
    }

    /// Options of the search for files.
    #[must_use]
    pub const fn options(&self) -> &FileOptions {
        &self.options
    }

    /// Storage of opened files.
    #[must_use]
    pub const fn shared(&self) -> &Arc<SharedImages> {
        &self.shared
    }

    /// Returns the number of opened files in use.
    #[must_use]
    pub fn n_images(&self) -> u32 {
        self.with_run(|run| {
            let opened = run.by_path.values().filter_map(|outcome| outcome.as_ref().ok());
            let images = opened.chain(run.provided.values());
            images.map(|image| image.serial).collect::<HashSet<_>>().len() as u32
        })
    }

    /// Uses `image` for modules with a name, unless a different build-id was recorded for them.
    /// Serves files that the user assigned to a range of memory, and images made of JIT code.
    pub fn provide(&self, name: &[u8], image: Image) {
        self.shared.count_provided(&image);
        let loaded = self.loaded(image, None);
        self.with_run(|run| run.provided.insert(name.into(), loaded));
    }

    /// Uses the image that another store was provided with for a module, if there is one.
    pub fn adopt(&self, module: &Module, other: &Self) {
        if let Some(provided) = other.provided(module) {
            self.provide(&module.path, provided.image().clone());
        }
    }

    /// Returns the image of a module. The first call finds, opens and checks the file; later calls take no lock.
    ///
    /// # Errors
    /// If no file can be used for it.
    pub fn image(&self, module: &Module) -> Result<&Arc<LoadedImage>, &LoadError> {
        let outcome = self.outcomes.get_or_init(module, || self.load(module));
        outcome.as_ref().map(|found| &found.image)
    }

    /// Returns the result of the search for a module's image; `None` if it was not requested.
    pub fn outcome(&self, module: &Module) -> Option<Result<&Arc<LoadedImage>, &LoadError>> {
        Some(self.outcomes.get(module)?.as_ref().map(|found| &found.image))
    }

    /// Returns the proof that the file of a module is the recorded one; `None` if no file is
    /// used, or it was not requested.
    pub fn proof(&self, module: &Module) -> Option<FileProof> {
        Some(self.outcomes.get(module)?.as_ref().ok()?.proof)
    }

    /// Returns the build-id of the recorded file if it is proven: from the map record, or from
    /// a used file with a proof.
    #[must_use]
    pub fn proven_build_id(&self, module: &Module) -> Option<BuildId> {
        let identity = module.identity;
        if let Some(id) = identity.build_id.filter(|_| !identity.is_listed) {
            return Some(id);
        }
        match self.outcomes.get(module) {
            Some(Ok(found)) if found.proof == FileProof::None => None,
            Some(Ok(found)) => found.image.image().build_id(),
            Some(Err(LoadError::OtherFile { .. })) => None,
            Some(Err(_)) | None => identity.build_id,
        }
    }

    fn load(&self, module: &Module) -> ImageOutcome {
        let bytes = (size_of::<ImageOutcome>() + module.path.len()) as u64;
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).add(bytes);
        if let Some(image) = self.provided(module) {
            return Ok(FoundImage { image, proof: FileProof::UserNamed });
        }
        match module.kind {
            MappedKind::File => self.load_file(module),
            MappedKind::Vdso => self.load_vdso(module),
            MappedKind::Unopened if module.identity.build_id.is_some() => self.load_file(module),
            MappedKind::Unopened => Err(LoadError::NotOpened),
            _ => Err(LoadError::NoFile),
        }
    }

    /// Opens a file other than a program by its recorded path: mapped and below sysroots according to the options, or
    /// below the root of its process if that is alive.
    #[must_use]
    pub fn open_data_file(&self, path: &Path, pid: Pid) -> Option<HostFile> {
        let found = self.data_file(path, pid)?;
        let opened = self.options.host.open(&found.path, found.origin());
        opened.inspect_err(|error| self.note_unread(error)).ok()
    }

    /// Reads the same file completely, because its process may still write it. `None` if it does not exist.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read_data_file(&self, path: &Path, pid: Pid) -> Option<Result<HostText, HostError>> {
        let found = self.data_file(path, pid)?;
        Some(self.options.host.text(&found.path, found.origin()))
    }

    /// Returns the time of the last modification of the same file, in nanoseconds since 1970.
    #[must_use]
    pub fn data_file_written(&self, path: &Path, pid: Pid) -> Option<i128> {
        let found = self.data_file(path, pid)?;
        let stat = self.options.host.stat(&found.path, found.origin()).ok()?;
        Some(stat.stamp.modified)
    }

    fn data_file(&self, path: &Path, pid: Pid) -> Option<FileCandidate> {
        let host = &self.options.host;
        let mut found = recorded_paths(&self.options, path);
        let live = live_root(&self.options, pid);
        found.extend(live.map(|root| FileCandidate::recorded(&root, below(&root, path))));
        found.into_iter().find(|it| host.is_file(&it.path, it.origin()))
    }

    /// Returns the findings about files so far.
    #[must_use]
    pub fn findings(&self) -> Vec<FileFinding> {
        let mut mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        for (path, _) in mapped.extract_if(.., |(_, damage)| damage.happened()) {
            let path = path.display();
            let why = "was truncated while it was read; names and stacks from it may be wrong";
            self.note(FileFindingKind::Truncated, format!("{path} {why}"));
        }
        let fetched = self.options.fetcher.iter().flat_map(|fetcher| fetcher.0.findings());
        let of_host = FileFindings::default();
        for finding in self.options.host.findings() {
            of_host.note((&finding).into(), finding.to_string());
        }
        self.findings.rows().into_iter().chain(of_host.rows()).chain(fetched).collect()
    }

    /// Returns the memory without a file that has frames and was attributed to the surrounding file.
    #[must_use]
    pub fn remapped_texts(&self) -> Vec<RemappedText> {
        self.remapped_texts.rows()
    }

    /// Notes such memory, and the module with its text.
    pub(crate) fn note_remapped(&self, memory: &Module, range: Range<Avma>, of: &Module) {
        let bytes = self.remapped_texts.note(memory, range, of);
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).add(bytes);
    }

    /// Adds a finding about a file.
    pub fn note(&self, kind: FileFindingKind, message: String) {
        self.findings.note(kind, message);
    }

    /// Adds a finding that is reported once, regardless of how often it occurs.
    pub(super) fn note_once(&self, kind: FileFindingKind, message: String) {
        self.findings.note_once(kind, message);
    }

    /// Reports the parts of a file that are omitted because they exceed a limit.
    pub(crate) fn note_omitted(&self, image: &Image, part: &str, omitted: &[OmittedPart]) {
        for OmittedPart { what, why } in omitted {
            let path = image.path().display();
            let message = format!("{path}: {part}{what} {why}; it was omitted");
            self.note(FileFindingKind::PartOmitted, message);
        }
    }

    /// Remaining memory for the contents of files in this run.
    #[must_use]
    pub const fn held(&self) -> &Arc<SharedAllowance> {
        &self.held
    }

    /// Returns true if `bytes` bytes read from a file may stay in memory. Otherwise adds a
    /// finding that they were omitted.
    pub fn may_hold(&self, path: &Path, bytes: u64) -> bool {
        let held = self.held.take_for(bytes, || path.display().to_string()).inspect_err(|why| {
            let message = format!("{} asks for {why}; it was omitted", path.display());
            self.note(FileFindingKind::PartOmitted, message);
        });
        held.is_ok()
    }

    /// Adds a finding about an existing file that was not read.
    pub fn note_unread(&self, error: &HostError) {
        if matches!(error, HostError::TooLarge { .. }) {
            self.note(FileFindingKind::TooLarge, format!("{error}; it was not read"));
        }
    }

    /// Returns true if the image of a module was provided, not found.
    #[must_use]
    pub fn is_provided(&self, module: &Module) -> bool {
        self.provided(module).is_some()
    }

    fn provided(&self, module: &Module) -> Option<Arc<LoadedImage>> {
        let image = self.with_run(|run| {
            if run.provided.is_empty() { None } else { run.provided.get(&module.path).cloned() }
        })?;
        let wanted = module.identity.build_id;
        let fits = wanted.is_none_or(|wanted| {
            image.image().build_id().is_some_and(|found| found.matches(&wanted))
        });
        fits.then_some(image)
    }

    /// Opens a file that does not belong to a module, for example a debug file.
    pub(crate) fn open_image(&self, candidate: &FileCandidate) -> Result<Image, ImageError> {
        self.open_content(candidate, Form::Whole).map(|(image, _)| image)
    }

    /// Opens a file. If it does not exist and its path leads into an archive, opens the entry of the archive.
    fn open_content(
        &self,
        candidate: &FileCandidate,
        form: Form,
    ) -> Result<(Image, ContentKey), ImageError> {
        let opened = self.open_file(candidate, form);
        let is_missing = opened.as_ref().is_err_and(ImageError::is_missing);
        let inside = if is_missing { candidate.in_archive(&*self.options.host)? } else { None };
        let Some((archive, at)) = inside else { return opened };
        let opened = self.open_file(&archive, Form::Entry(at));
        opened.map(|(image, key)| (image.named(&candidate.path), key))
    }

    fn open_file(
        &self,
        candidate: &FileCandidate,
        form: Form,
    ) -> Result<(Image, ContentKey), ImageError> {
        let budget = &self.options.budget;
        let parse = |path: &Path, content| match form {
            Form::Whole => ElfData::parse(path, content, budget),
            Form::Part(offset) => ElfData::parse_part(path, content, offset, budget),
            Form::Entry(offset) => ElfData::parse_entry(path, content, offset, budget),
            Form::Kernel => kernel::parse(path, content, budget, self.held.left()),
        };
        match self.shared.open(&*self.options.host, candidate, form, parse) {
            Ok((image, key)) => {
                self.note_omitted(&image, "", image.omitted());
                if form == Form::Kernel && image.damage().is_none() {
                    let bytes = image.bytes().len() as u64;
                    let reading = || image.path().display().to_string();
                    self.held.take_for(bytes, reading).map_err(|why| {
                        let path = image.path().to_owned();
                        self.note_excess(ImageError::TooMuch {
                            path,
                            what: "the file".to_owned(),
                            why,
                        })
                    })?;
                }
                if let Some(damage) = image.damage() {
                    let mut mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
                    mapped.push((image.path().to_owned(), damage));
                }
                Ok((image.within(&self.held), key))
            }
            Err(error) => Err(self.note_excess(error)),
        }
    }

    /// Adds a finding about a file that exceeds a limit.
    fn note_excess(&self, error: ImageError) -> ImageError {
        if matches!(error, ImageError::TooMuch { .. }) {
            self.note(FileFindingKind::PartOmitted, format!("{error}; it was omitted"));
        }
        error
    }

    pub(super) fn open(
        &self,
        candidate: &FileCandidate,
        form: Form,
    ) -> Result<Arc<LoadedImage>, Arc<ImageError>> {
        self.remember(&candidate.path, candidate.origin().root(), form, || {
            self.open_content(candidate, form).map(|(image, key)| (image, Some(key)))
        })
    }

    /// Returns the result of opening a path, stored for this run unless the file is missing.
    pub(super) fn remember(
        &self,
        path: &Path,
        root: Option<&Path>,
        form: Form,
        open: impl FnOnce() -> Result<(Image, Option<ContentKey>), ImageError>,
    ) -> Result<Arc<LoadedImage>, Arc<ImageError>> {
        let name = (path.to_owned(), root.map(Path::to_owned), form);
        if let Some(known) = self.with_run(|run| run.by_path.get(&name).cloned()) {
            return known;
        }
        // Opened outside the lock: if several threads do so, the result of the first one is used.
        let opened = match open() {
            Ok((image, key)) => Ok(self.by_content(image, key)),
            // Most candidates are missing, and the result for a module is stored elsewhere.
            Err(error) if error.is_missing() => return Err(Arc::new(error)),
            Err(error) => Err(Arc::new(error)),
        };
        self.with_run(|run| run.by_path.entry(name).or_insert(opened).clone())
    }

    /// Returns one image per content in a run, regardless of path.
    fn by_content(&self, image: Image, key: Option<ContentKey>) -> Arc<LoadedImage> {
        // The same library in an archive has other offsets, and its debug file has no code: these are different images.
        let alike = image.base().0 == 0 && !image.is_stripped_of_code();
        let id = image.build_id().filter(|_| alike);
        let known = |run: &mut RunImages| id.and_then(|id| run.by_id.get(&id).cloned());
        if let Some(known) = self.with_run(known) {
            return known;
        }
        let loaded = self.loaded(image, key);
        self.with_run(|run| match id {
            Some(id) => run.by_id.entry(id).or_insert(loaded).clone(),
            None => loaded,
        })
    }

    /// Creates an image, with the serial from a previous run if that had the same content and debug file.
    fn loaded(&self, image: Image, key: Option<ContentKey>) -> Arc<LoadedImage> {
        let debug = OnceLock::new();
        let identity = self.shared.identity(key.as_ref(), self.debug_search, |known| {
            let same = known.debug().is_none_or(|mark| {
                let now = debug.get_or_init(|| debug::find(&image, self));
                mark_of(now.as_deref()) == *mark
            });
            same && self.with_run(|run| run.serials.insert(known.serial))
        });
        self.with_run(|run| run.serials.insert(identity.serial));
        Arc::new(LoadedImage::new(identity, image, debug))
    }

    /// Returns the image with an id, if this run has one.
    pub(super) fn opened_by_id(&self, id: BuildId) -> Option<Arc<LoadedImage>> {
        self.with_run(|run| run.by_id.get(&id).cloned())
    }

    fn with_run<T>(&self, f: impl FnOnce(&mut RunImages) -> T) -> T {
        // A panic of another thread cannot leave the maps inconsistent.
        f(&mut self.run.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
