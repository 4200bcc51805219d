//! Opened files retained between runs: the next recording of the same machine finds its
//! binaries parsed and their unwind rules in the cache.
//! Bounded, with removal of the least recently used files.

use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use address::{BuildId, FileOffset};
use hashbrown::HashMap;
use host::{FileStamp, Host, HostError};

use crate::elf::{ElfData, Image, ImageError, ImageSource};
use crate::search::FileCandidate;

/// Limits of the retained files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageLimits {
    /// Number of files.
    pub files: usize,
    /// Total size of the files in bytes, mapped or in memory.
    pub bytes: u64,
}

impl Default for ImageLimits {
    fn default() -> Self {
        Self { files: 2048, bytes: 32 << 30 }
    }
}

/// Form of an image in relation to its file. The same file gives a different image for each form.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Form {
    /// Unchanged.
    Whole,
    /// An entry of an archive, mapped from the archive.
    Part(FileOffset),
    /// An entry of an archive at an offset, mapped by its own name: offsets are relative to the entry.
    Entry(FileOffset),
    /// Decompressed, with the section layout of loaded kernel modules.
    Kernel,
}

/// Identity of a content: the file with its time of change, and the form.
pub(crate) type ContentKey = (FileStamp, Form);

/// Identity of a separate debug file: its build-id and its size.
pub(crate) type DebugMark = Option<(Option<BuildId>, usize)>;

/// A serial and its scope: caches keyed by serials contain data made of one content together with its debug file.
#[derive(Debug)]
pub(crate) struct CacheIdentity {
    pub(crate) serial: u32,
    /// Hash of the places that were searched for its debug file.
    search: u64,
    /// Debug file, after the search for it.
    debug: OnceLock<DebugMark>,
}

impl CacheIdentity {
    /// Stores the debug file that was found.
    pub(crate) fn note_debug(&self, mark: DebugMark) {
        // Runs that share a serial search the same places; the first result is used.
        let _ = self.debug.set(mark);
    }

    /// Returns the debug file that was found, if it was searched.
    pub(crate) fn debug(&self) -> Option<&DebugMark> {
        self.debug.get()
    }
}

/// Opened files, shared by runs with the same [`Host`], or with hosts that give the same answers.
/// A service has one for recordings that it trusts and one for uploads.
///
/// Files are identified by device, inode, size and time of change, and by build-id and size if two paths lead
/// to one content. Missing files are not stored.
///
/// Every opened file has a serial, the unwinder's key for its rules. Caches store 16 bits of it.
/// When [`Self::is_used_up`] returns true, this value and all caches filled with it must be
/// discarded together; a new [`Self::generation`] starts.
#[derive(Debug)]
pub struct SharedImages {
    cached: Mutex<CachedImages>,
    next_serial: AtomicU32,
    /// Bytes of images made in memory that have a serial; caches hold data about those that were queried.
    provided_bytes: AtomicU64,
    generation: u64,
    limits: ImageLimits,
}

#[derive(Debug, Default)]
struct CachedImages {
    contents: HashMap<ContentKey, CachedImage>,
    by_id: HashMap<(BuildId, usize), ContentKey>,
    bytes: u64,
    /// Use counter, for the order of uses.
    clock: u64,
}

#[derive(Debug)]
struct CachedImage {
    data: Arc<ElfData>,
    identities: Vec<Arc<CacheIdentity>>,
    used: u64,
}

impl Default for SharedImages {
    fn default() -> Self {
        Self::new(ImageLimits::default())
    }
}

impl SharedImages {
    /// Creates an empty storage with limits.
    #[must_use]
    pub fn new(limits: ImageLimits) -> Self {
        static GENERATION: AtomicU64 = AtomicU64::new(1);
        Self {
            cached: Mutex::default(),
            next_serial: AtomicU32::new(0),
            provided_bytes: AtomicU64::new(0),
            generation: GENERATION.fetch_add(1, Ordering::Relaxed),
            limits,
        }
    }

    /// Id that is unique in the process: data cached by serials belongs to it.
    #[must_use]
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// Limits of the retained files.
    #[must_use]
    pub const fn limits(&self) -> ImageLimits {
        self.limits
    }

    /// Returns true if nearly all serials are used, or images made in memory are so large that
    /// caches should be dropped.
    /// Files opened later work, but without serials their rules are not cached.
    #[must_use]
    pub fn is_used_up(&self) -> bool {
        const SERIALS: u32 = 1 << 16;
        /// Serials for one more recording, which usually maps fewer files.
        const RESERVE: u32 = 1 << 12;
        /// Limit in bytes, mostly of JIT code.
        const PROVIDED: u64 = 1 << 30;
        self.next_serial.load(Ordering::Relaxed) > SERIALS - RESERVE
            || self.provided_bytes.load(Ordering::Relaxed) > PROVIDED
    }

    /// Returns the number of stored files.
    #[must_use]
    pub fn n_cached(&self) -> usize {
        self.with(|cached| cached.contents.len())
    }

    /// Opens a file, or returns the stored one.
    pub(crate) fn open(
        &self,
        host: &dyn Host,
        candidate: &FileCandidate,
        form: Form,
        parse: impl FnOnce(&Path, host::Content) -> Result<ElfData, ImageError>,
    ) -> Result<(Image, ContentKey), ImageError> {
        let (path, origin) = (&candidate.path, candidate.origin());
        let mut known = None;
        let file = host.open_unless(path, origin, &mut |stamp| {
            let key = (*stamp, form);
            known = self.with(|cached| cached.find(&key)).map(|data| (key, data));
            known.is_some()
        })?;
        let Some(file) = file else {
            // `file` is `None` only because its content is stored.
            let (key, data) = known.ok_or_else(|| HostError::missing(path))?;
            return Ok((image_of(path, origin.root(), data, &key), key));
        };
        let key = (file.stamp, form);
        let data = Arc::new(parse(path, file.content)?);
        let (key, data) = self.with(|cached| cached.insert(key, data, self.limits));
        Ok((image_of(path, origin.root(), data, &key), key))
    }

    /// Counts an image made in memory.
    pub(crate) fn count_provided(&self, image: &Image) {
        self.provided_bytes.fetch_add(image.bytes().len() as u64, Ordering::Relaxed);
    }

    /// Returns an identity for a content in a run with the hash `search` of its debug search: an
    /// existing one accepted by `fits`, otherwise a new one.
    pub(crate) fn identity(
        &self,
        key: Option<&ContentKey>,
        search: u64,
        mut fits: impl FnMut(&CacheIdentity) -> bool,
    ) -> Arc<CacheIdentity> {
        let known = key.map_or_else(Vec::new, |key| self.with(|cached| cached.identities(key)));
        let known = known.into_iter().find(|known| known.search == search && fits(known));
        known.unwrap_or_else(|| {
            let serial = self.next_serial.fetch_add(1, Ordering::Relaxed);
            let new = Arc::new(CacheIdentity { serial, search, debug: OnceLock::new() });
            if let Some(key) = key {
                self.with(|cached| cached.add_identity(key, &new));
            }
            new
        })
    }

    fn with<T>(&self, f: impl FnOnce(&mut CachedImages) -> T) -> T {
        // A panic of another thread cannot leave the maps inconsistent.
        f(&mut self.cached.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns the image of a content, with a path that leads to it.
fn image_of(path: &Path, root: Option<&Path>, data: Arc<ElfData>, key: &ContentKey) -> Image {
    let (stamp, form) = *key;
    let form = match form {
        Form::Whole => (0, 0),
        Form::Part(offset) => (1, offset.0),
        Form::Entry(offset) => (2, offset.0),
        Form::Kernel => (3, 0),
    };
    Image::of(path, root, data).source(ImageSource { stamp, form })
}

impl CachedImages {
    fn find(&mut self, key: &ContentKey) -> Option<Arc<ElfData>> {
        self.clock += 1;
        let entry = self.contents.get_mut(key)?;
        entry.used = self.clock;
        Some(entry.data.clone())
    }

    /// Stores a content, unless it is present: as the same file, or as another one of the same build-id and size.
    fn insert(
        &mut self,
        key: ContentKey,
        data: Arc<ElfData>,
        limits: ImageLimits,
    ) -> (ContentKey, Arc<ElfData>) {
        let id =
            data.build_id().filter(|_| key.1 == Form::Whole).map(|id| (id, data.bytes().len()));
        let same = id.and_then(|id| self.by_id.get(&id).copied());
        for key in [Some(key), same].into_iter().flatten() {
            if let Some(data) = self.find(&key) {
                return (key, data);
            }
        }
        self.bytes += data.bytes().len() as u64;
        if let Some(id) = id {
            self.by_id.insert(id, key);
        }
        let used = self.clock;
        self.contents.insert(key, CachedImage { data: data.clone(), identities: Vec::new(), used });
        while self.contents.len() > limits.files.max(1) || self.bytes > limits.bytes {
            if !self.evict_oldest(&key) {
                break;
            }
        }
        (key, data)
    }

    /// Removes the least recently used file, except `spared`.
    fn evict_oldest(&mut self, spared: &ContentKey) -> bool {
        let others = self.contents.iter().filter(|(key, _)| *key != spared);
        let Some(oldest) = others.min_by_key(|(_, entry)| entry.used).map(|(key, _)| *key) else {
            return false;
        };
        if let Some(entry) = self.contents.remove(&oldest) {
            self.bytes -= entry.data.bytes().len() as u64;
        }
        self.by_id.retain(|_, key| *key != oldest);
        true
    }

    fn identities(&self, key: &ContentKey) -> Vec<Arc<CacheIdentity>> {
        self.contents.get(key).map_or_else(Vec::new, |entry| entry.identities.clone())
    }

    /// Adds an identity. The oldest ones, often of debug files that no longer exist, are dropped.
    fn add_identity(&mut self, key: &ContentKey, identity: &Arc<CacheIdentity>) {
        const MOST: usize = 8;
        if let Some(entry) = self.contents.get_mut(key) {
            if entry.identities.len() == MOST {
                entry.identities.remove(0);
            }
            entry.identities.push(identity.clone());
        }
    }
}
