//! The images of modules: found, opened, checked against the recorded identity, shared by content.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use address::{Avma, BuildId, Pid};
use budget::{Held, MemoryUse, Resource, SharedAllowance};
use hashbrown::{HashMap, HashSet};
use host::{Damage, HostError, HostFile, HostText};
use module_map::{MappedKind, Module};

use super::by_content::FilesByContent;
use super::debug;
use super::jit::KeptPerfMaps;
use super::loaded::{LoadedImage, mark_of};
use super::outcomes::{FoundImage, ImageOutcome, Outcomes};
use super::shared::{ContentKey, Form, SharedImages};
use crate::elf::{ElfData, Image, ImageError, LeftOut};
use crate::identity::{FileProof, LoadError, live_root};
use crate::kernel;
use crate::kernel::ModuleLists;
use crate::search::{
    FileCandidate, FileFinding, FileFindingKind, FileFindings, FileOptions, MovedText, MovedTexts,
    below, places,
};

/// Opens images for the modules of one run and keeps what came of it; "missing" is remembered for this run only.
/// Opened files are kept in [`SharedImages`], which other runs may share.
#[derive(Debug)]
pub struct ImageStore {
    options: FileOptions,
    shared: Arc<SharedImages>,
    /// In which places debug files are looked for.
    debug_search: u64,
    run: Mutex<RunImages>,
    outcomes: Outcomes,
    pub(super) module_lists: ModuleLists,
    pub(super) contents: FilesByContent,
    pub(super) perf_maps: KeptPerfMaps,
    findings: FileFindings,
    moved_texts: MovedTexts,
    /// The files that are mapped; others may cut them short.
    mapped: Mutex<Vec<(PathBuf, Damage)>>,
    /// What of files may still be kept in memory.
    held: Arc<SharedAllowance>,
    /// What is noted of modules.
    noted: Mutex<Held>,
}

/// A path, the folder that it was resolved in, and how it was opened.
type PathKey = (PathBuf, Option<PathBuf>, Form);

#[derive(Debug, Default)]
struct RunImages {
    by_path: HashMap<PathKey, Result<Arc<LoadedImage>, Arc<ImageError>>>,
    by_id: HashMap<BuildId, Arc<LoadedImage>>,
    provided: HashMap<Box<[u8]>, Arc<LoadedImage>>,
    /// The serials that this run has: two paths are two images, though they may lead to the same file.
    serials: HashSet<u32>,
}

impl Default for ImageStore {
    fn default() -> Self {
        Self::new(FileOptions::default())
    }
}

impl ImageStore {
    /// A store that shares its files with no other run.
    #[must_use]
    pub fn new(options: FileOptions) -> Self {
        Self::sharing(options, Arc::default())
    }

    /// A store for one run, which takes opened files from `shared` and leaves them there for others.
    #[must_use]
    pub fn sharing(options: FileOptions, shared: Arc<SharedImages>) -> Self {
        let held = options.budget.shared_allowance(Resource::HeldInAll, 0);
        let held = held.held_in(&options.memory, MemoryUse::Files);
        Self {
            noted: Mutex::new(Held::new(&options.memory, MemoryUse::Processes)),
            debug_search: options.debug_search(),
            shared,
            run: Mutex::default(),
            outcomes: Outcomes::default(),
            perf_maps: KeptPerfMaps::default(),
            module_lists: ModuleLists::default(),
            contents: FilesByContent::default(),
            findings: FileFindings::default(),
            moved_texts: MovedTexts::default(),
            mapped: Mutex::default(),
            held: Arc::new(held),
            options,
        }
    }

    /// How it looks for files.
    #[must_use]
    pub const fn options(&self) -> &FileOptions {
        &self.options
    }

    /// Where opened files are kept.
    #[must_use]
    pub const fn shared(&self) -> &Arc<SharedImages> {
        &self.shared
    }

    /// How many files were opened and are in use.
    #[must_use]
    pub fn n_images(&self) -> u32 {
        self.with_run(|run| {
            let opened = run.by_path.values().filter_map(|outcome| outcome.as_ref().ok());
            let images = opened.chain(run.provided.values());
            images.map(|image| image.serial).collect::<HashSet<_>>().len() as u32
        })
    }

    /// Serves `image` for modules of that name whose build-id, where one is recorded, is the image's. What the user
    /// named for a range of memory and what was made of JIT code comes this way.
    pub fn provide(&self, name: &[u8], image: Image) {
        self.shared.count_provided(&image);
        let loaded = self.loaded(image, None);
        self.with_run(|run| run.provided.insert(name.into(), loaded));
    }

    /// The image of a module, found, opened and checked at the first call. Later calls take no lock.
    ///
    /// # Errors
    /// The reason why no file can be used for it.
    pub fn image(&self, module: &Module) -> Result<&Arc<LoadedImage>, &LoadError> {
        let outcome = self.outcomes.get_or_init(module, || self.load(module));
        outcome.as_ref().map(|found| &found.image)
    }

    /// What came of looking for a module's image; `None` where nobody asked.
    pub fn outcome(&self, module: &Module) -> Option<Result<&Arc<LoadedImage>, &LoadError>> {
        Some(self.outcomes.get(module)?.as_ref().map(|found| &found.image))
    }

    /// The proof that the file of a module is the recorded one; `None` if no file is used, or nobody asked for it.
    pub fn proof(&self, module: &Module) -> Option<FileProof> {
        Some(self.outcomes.get(module)?.as_ref().ok()?.proof)
    }

    /// The build-id of the recorded file, if it is proven: that of the map record, or of a file that is used with a proof.
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
            return Ok(FoundImage { image, proof: FileProof::Given });
        }
        match module.kind {
            MappedKind::File => self.load_file(module),
            MappedKind::Vdso => self.load_vdso(module),
            MappedKind::Unopened if module.identity.build_id.is_some() => self.load_file(module),
            MappedKind::Unopened => Err(LoadError::NotOpened),
            _ => Err(LoadError::NoFile),
        }
    }

    /// The content of a file that is no program: by its recorded path, mapped and below sysroots as the options say, or
    /// below the root of the process that has it, where that still lives.
    #[must_use]
    pub fn open_data_file(&self, path: &Path, pid: Pid) -> Option<HostFile> {
        let found = self.data_file(path, pid)?;
        let opened = self.options.host.open(&found.path, found.origin());
        opened.inspect_err(|error| self.note_unread(error)).ok()
    }

    /// The same read as a whole, for what its process may still write; `None` where it is not there.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn read_data_file(&self, path: &Path, pid: Pid) -> Option<Result<HostText, HostError>> {
        let found = self.data_file(path, pid)?;
        Some(self.options.host.text(&found.path, found.origin()))
    }

    /// When the same file was written last, in nanoseconds since 1970.
    #[must_use]
    pub fn data_file_written(&self, path: &Path, pid: Pid) -> Option<i128> {
        let found = self.data_file(path, pid)?;
        let stat = self.options.host.stat(&found.path, found.origin()).ok()?;
        Some(stat.stamp.modified)
    }

    fn data_file(&self, path: &Path, pid: Pid) -> Option<FileCandidate> {
        let host = &self.options.host;
        let mut found = places(&self.options, path);
        let live = live_root(&self.options, pid);
        found.extend(live.map(|root| FileCandidate::recorded(&root, below(&root, path))));
        found.into_iter().find(|it| host.is_file(&it.path, it.origin()))
    }

    /// What is to be said about files that were looked for, so far.
    #[must_use]
    pub fn findings(&self) -> Vec<FileFinding> {
        let mut mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        for (path, _) in mapped.extract_if(.., |(_, damage)| damage.happened()) {
            let path = path.display();
            let why = "was truncated while it was read; names and stacks from it may be wrong";
            self.note(FileFindingKind::CutShort, format!("{path} {why}"));
        }
        let fetched = self.options.fetcher.iter().flat_map(|fetcher| fetcher.0.findings());
        let of_host = FileFindings::default();
        for finding in self.options.host.findings() {
            of_host.note((&finding).into(), finding.to_string());
        }
        self.findings.rows().into_iter().chain(of_host.rows()).chain(fetched).collect()
    }

    /// Memory without a file in which frames were found, and which was taken for the file around it.
    #[must_use]
    pub fn moved_texts(&self) -> Vec<MovedText> {
        self.moved_texts.rows()
    }

    /// Notes such memory, and the module whose text it is.
    pub(crate) fn note_moved(&self, memory: &Module, range: Range<Avma>, of: &Module) {
        let bytes = self.moved_texts.note(memory, range, of);
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).add(bytes);
    }

    /// Notes what is to be said about a file.
    pub fn note(&self, kind: FileFindingKind, message: String) {
        self.findings.note(kind, message);
    }

    /// Notes a finding that is told once, whoever comes to it.
    pub(super) fn note_once(&self, kind: FileFindingKind, message: String) {
        self.findings.note_once(kind, message);
    }

    /// Notes what of a file is not there for anybody, because there is too much of it.
    pub(crate) fn note_left_out(&self, image: &Image, part: &str, left_out: &[LeftOut]) {
        for LeftOut { what, why } in left_out {
            let path = image.path().display();
            let message = format!("{path}: {part}{what} {why}; it was omitted");
            self.note(FileFindingKind::LeftOut, message);
        }
    }

    /// What of files may still be kept in memory in this run.
    #[must_use]
    pub const fn held(&self) -> &Arc<SharedAllowance> {
        &self.held
    }

    /// Whether so many bytes of what was read of a file may be kept in memory. Where not, it is noted that it was left
    /// out.
    pub fn may_hold(&self, path: &Path, bytes: u64) -> bool {
        let held = self.held.take_for(bytes, || path.display().to_string()).inspect_err(|why| {
            let message = format!("{} asks for {why}; it was omitted", path.display());
            self.note(FileFindingKind::LeftOut, message);
        });
        held.is_ok()
    }

    /// Notes a file that is there, but was not read.
    pub fn note_unread(&self, error: &HostError) {
        if matches!(error, HostError::TooLarge { .. }) {
            self.note(FileFindingKind::TooLarge, format!("{error}; it was not read"));
        }
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

    /// Opens a file that is no module's own: a debug file, for example.
    pub(crate) fn open_image(&self, candidate: &FileCandidate) -> Result<Image, ImageError> {
        self.open_content(candidate, Form::Whole).map(|(image, _)| image)
    }

    /// Opens a file, or, where it is not there and its path leads into an archive, what is in that.
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
                self.note_left_out(&image, "", image.left_out());
                if form == Form::Kernel && image.damage().is_none() {
                    let bytes = image.bytes().len() as u64;
                    let reading = || image.path().display().to_string();
                    self.held.take_for(bytes, reading).map_err(|why| {
                        let path = image.path().to_owned();
                        self.left_out(ImageError::TooMuch {
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
            Err(error) => Err(self.left_out(error)),
        }
    }

    /// Notes a file that asks for too much.
    fn left_out(&self, error: ImageError) -> ImageError {
        if matches!(error, ImageError::TooMuch { .. }) {
            self.note(FileFindingKind::LeftOut, format!("{error}; it was omitted"));
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

    /// What came of opening a path in this run, where something was there.
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
        // Opened outside the lock: another thread may do the same, then the first one to come back wins.
        let opened = match open() {
            Ok((image, key)) => Ok(self.by_content(image, key)),
            // Most places have nothing, and what came of a module is remembered with it.
            Err(error) if error.is_missing() => return Err(Arc::new(error)),
            Err(error) => Err(Arc::new(error)),
        };
        self.with_run(|run| run.by_path.entry(name).or_insert(opened).clone())
    }

    /// Files of one content are one image in a run, whatever their paths are.
    fn by_content(&self, image: Image, key: Option<ContentKey>) -> Arc<LoadedImage> {
        // The same library in an archive lies at other offsets, and its debug file has no code: those are other images.
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

    /// An image of this run, with the serial of another run that found the same content and the same debug file.
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

    /// The image of that id, where this run has one.
    pub(super) fn known_by_id(&self, id: BuildId) -> Option<Arc<LoadedImage>> {
        self.with_run(|run| run.by_id.get(&id).cloned())
    }

    fn with_run<T>(&self, f: impl FnOnce(&mut RunImages) -> T) -> T {
        // A panic of another thread cannot leave the maps half-changed.
        f(&mut self.run.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
