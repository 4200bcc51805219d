//! The files behind modules: found, opened, checked against the recorded identity, shared by content.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use address::{BuildId, Pid};
use hashbrown::HashMap;

use super::find::{below, cached_vdso, candidates, places, recorded_path};
use super::kernel_files;
use super::loaded::LoadedImage;
use super::options::{FetchKind, FileOptions};
use super::vdso;
use crate::elf::{Image, ImageError};
use crate::module::{Module, ModuleKind};

/// Why no file is used for a module.
#[derive(Debug)]
pub enum Refusal {
    /// The memory has no file.
    NoFile,
    /// A file of that kind is never opened by its name.
    NotOpened,
    /// No candidate exists.
    Missing(PathBuf),
    /// Candidates exist, but with other contents than what was recorded.
    BuildId {
        /// The file that was looked at.
        path: PathBuf,
        /// What was recorded.
        recorded: BuildId,
        /// What the file has.
        found: Option<BuildId>,
    },
    /// The path led to another file later on, and nothing tells what the recorded one was.
    Replaced(PathBuf),
    /// A candidate exists, but it cannot be used.
    Unusable(Arc<ImageError>),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoFile => f.write_str("no file behind this memory"),
            Self::NotOpened => f.write_str("a name that is not opened as a path"),
            Self::Missing(_) => f.write_str("file not found"),
            Self::Replaced(path) => {
                write!(f, "{} was replaced while it was recorded", path.display())
            }
            Self::BuildId { path, recorded, found: Some(found) } => {
                write!(f, "{} has build-id {found}, recorded was {recorded}", path.display())
            }
            Self::BuildId { path, recorded, found: None } => {
                write!(f, "{} has no build-id, recorded was {recorded}", path.display())
            }
            Self::Unusable(error) => match &**error {
                ImageError::Io { source, .. } => write!(f, "{error}: {source}"),
                _ => error.fmt(f),
            },
        }
    }
}

/// Opens files for modules and keeps them.
#[derive(Debug, Default)]
pub struct Library {
    options: FileOptions,
    images: Mutex<Images>,
    next_serial: AtomicU32,
}

#[derive(Debug, Default)]
struct Images {
    by_path: HashMap<PathBuf, Result<Arc<LoadedImage>, Arc<ImageError>>>,
    by_id: HashMap<BuildId, Arc<LoadedImage>>,
    provided: HashMap<Box<[u8]>, Arc<LoadedImage>>,
}

impl Library {
    /// A library that looks for files as told.
    #[must_use]
    pub fn new(options: FileOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// How it looks for files.
    #[must_use]
    pub const fn options(&self) -> &FileOptions {
        &self.options
    }

    /// How many files were opened and are in use.
    #[must_use]
    pub fn n_images(&self) -> u32 {
        self.next_serial.load(Ordering::Relaxed)
    }

    /// Serves `image` for modules of that name whose build-id, where one is recorded, is the image's. What the user
    /// named for a range of memory and what was made of JIT code comes this way.
    pub fn provide(&self, name: &[u8], image: Image) {
        let serial = self.next_serial.fetch_add(1, Ordering::Relaxed);
        let loaded = Arc::new(LoadedImage::new(serial, image));
        self.with_images(|images| images.provided.insert(name.into(), loaded));
    }

    /// Finds the file of a module. Called once per module.
    pub(crate) fn load(&self, module: &Module) -> Result<Arc<LoadedImage>, Refusal> {
        if let Some(image) = self.provided(module) {
            return Ok(image);
        }
        match module.kind {
            ModuleKind::File if module.identity.replaced => {
                Err(Refusal::Replaced(recorded_path(module)))
            }
            ModuleKind::File => self.load_file(module),
            ModuleKind::Vdso => self.load_vdso(module),
            ModuleKind::Unopened if module.identity.build_id.is_some() => self.load_file(module),
            ModuleKind::Unopened => Err(Refusal::NotOpened),
            ModuleKind::Anonymous | ModuleKind::Kernel => Err(Refusal::NoFile),
        }
    }

    /// The image of the kernel or of a kernel module, found by its build-id alone: `name` is the kernel's own
    /// (`[kernel.kallsyms]`, `[nf_tables]`) or the path of a module's file.
    ///
    /// # Errors
    /// Why no file can be used for it.
    pub fn kernel_file(&self, name: &[u8], id: BuildId) -> Result<Arc<LoadedImage>, Refusal> {
        if let Some(image) = self.with_images(|images| images.by_id.get(&id).cloned()) {
            return Ok(image);
        }
        let mut refusal = None;
        let found = kernel_files::candidates(&self.options, name, id)
            .chain(self.options.fetched(id, FetchKind::DebugInfo))
            .find_map(|path| {
                let loaded = self.open_with(&path, || kernel_files::open(&path)).ok()?;
                match loaded.image().build_id() {
                    Some(found) if found.matches(&id) => Some(loaded),
                    found => {
                        refusal.get_or_insert(Refusal::BuildId { path, recorded: id, found });
                        None
                    }
                }
            });
        let name = String::from_utf8_lossy(name).into_owned();
        found.ok_or_else(|| refusal.unwrap_or(Refusal::Missing(PathBuf::from(name))))
    }

    /// Where a file that is no program is on this machine: by its recorded path, mapped and below sysroots as told, or
    /// below the root of the process that has it, where that still lives.
    #[must_use]
    pub fn data_file(&self, path: &Path, pid: Pid) -> Option<PathBuf> {
        let mut paths = places(&self.options, path);
        if self.options.trust_running_kernel && pid.0 > 0 {
            paths.push(below(Path::new(&format!("/proc/{pid}/root")), path));
        }
        paths.into_iter().find(|path| path.is_file())
    }

    fn provided(&self, module: &Module) -> Option<Arc<LoadedImage>> {
        let image = self.with_images(|images| {
            if images.provided.is_empty() {
                None
            } else {
                images.provided.get(&module.path).cloned()
            }
        })?;
        let wanted = module.identity.build_id;
        let fits = wanted.is_none_or(|wanted| {
            image.image().build_id().is_some_and(|found| found.matches(&wanted))
        });
        fits.then_some(image)
    }

    fn load_file(&self, module: &Module) -> Result<Arc<LoadedImage>, Refusal> {
        let wanted = module.identity.build_id;
        // In an archive the same library lies at other offsets.
        let known = wanted.filter(|_| module.part.is_none());
        if let Some(image) =
            known.and_then(|id| self.with_images(|images| images.by_id.get(&id).cloned()))
        {
            return Ok(image);
        }
        let mut refusal = None;
        let fetched = || wanted.and_then(|id| self.options.fetched(id, FetchKind::Executable));
        let paths = candidates(&self.options, module);
        for path in paths.into_iter().chain(std::iter::once_with(fetched).flatten()) {
            let opened = match module.part {
                Some(offset) => Image::open_at(&path, offset)
                    .map_err(Arc::new)
                    .map(|image| self.with_images(|images| self.keep(images, image))),
                None => self.open(&path),
            };
            match opened {
                Ok(loaded) => match (wanted, loaded.image().build_id()) {
                    (Some(recorded), found) if !found.is_some_and(|id| id.matches(&recorded)) => {
                        refusal.get_or_insert(Refusal::BuildId { path, recorded, found });
                    }
                    // A debug file of that id has no code: it serves symbols, not unwinding.
                    _ if loaded.image().is_stripped_of_code() => {}
                    _ => return Ok(loaded),
                },
                Err(error) => {
                    if !is_missing(&error) {
                        refusal.get_or_insert(Refusal::Unusable(error));
                    }
                }
            }
        }
        Err(refusal.unwrap_or_else(|| Refusal::Missing(recorded_path(module))))
    }

    fn load_vdso(&self, module: &Module) -> Result<Arc<LoadedImage>, Refusal> {
        let wanted = module.identity.build_id;
        let cached = wanted.and_then(|id| cached_vdso(&self.options, id));
        let fits = |loaded: &Arc<LoadedImage>| {
            loaded
                .image()
                .build_id()
                .zip(wanted)
                .is_some_and(|(found, wanted)| found.matches(&wanted))
        };
        if let Some(loaded) = cached.and_then(|path| self.open(&path).ok()).filter(fits) {
            return Ok(loaded);
        }
        let path = Path::new("[vdso]");
        let loaded = self
            .open_with(path, || {
                Image::from_vec(path, vdso::running_kernels().ok_or_else(|| vdso::missing(path))?)
            })
            .map_err(|_| Refusal::Missing(path.to_owned()))?;
        match (wanted, loaded.image().build_id()) {
            (Some(wanted), Some(found)) if wanted.matches(&found) => Ok(loaded),
            (Some(recorded), found) => {
                Err(Refusal::BuildId { path: path.to_owned(), recorded, found })
            }
            // Without a recorded id nothing says that it is the same kernel's.
            (None, _) if self.options.trust_running_kernel => Ok(loaded),
            (None, _) => Err(Refusal::Missing(path.to_owned())),
        }
    }

    fn open(&self, path: &Path) -> Result<Arc<LoadedImage>, Arc<ImageError>> {
        self.open_with(path, || Image::open(path))
    }

    fn open_with(
        &self,
        path: &Path,
        open: impl FnOnce() -> Result<Image, ImageError>,
    ) -> Result<Arc<LoadedImage>, Arc<ImageError>> {
        if let Some(known) = self.with_images(|images| images.by_path.get(path).cloned()) {
            return known;
        }
        // Opened outside the lock: another thread may do the same, then the first one to come back wins.
        let opened = open();
        self.with_images(|images| {
            if let Some(known) = images.by_path.get(path) {
                return known.clone();
            }
            let result = match opened {
                Err(error) => Err(Arc::new(error)),
                Ok(image) => Ok(self.keep(images, image)),
            };
            images.by_path.insert(path.to_owned(), result.clone());
            result
        })
    }

    /// Files of one content are one image, whatever their paths are.
    fn keep(&self, images: &mut Images, image: Image) -> Arc<LoadedImage> {
        // The same library in an archive lies at other offsets, and its debug file has no code: those are other images.
        let alike = image.base().0 == 0 && !image.is_stripped_of_code();
        let id = image.build_id().filter(|_| alike);
        if let Some(known) = id.and_then(|id| images.by_id.get(&id)) {
            return known.clone();
        }
        let serial = self.next_serial.fetch_add(1, Ordering::Relaxed);
        let loaded = Arc::new(LoadedImage::new(serial, image));
        if let Some(id) = id {
            images.by_id.insert(id, loaded.clone());
        }
        loaded
    }

    fn with_images<T>(&self, f: impl FnOnce(&mut Images) -> T) -> T {
        // A panic of another thread cannot leave the maps half-changed.
        f(&mut self.images.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

fn is_missing(error: &ImageError) -> bool {
    matches!(error, ImageError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
}
