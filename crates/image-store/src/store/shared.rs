//! Opened files that are kept from run to run, so that the next recording of the same machine finds its binaries
//! parsed and their unwind rules in the cache. Bounded: what was used longest ago goes.

use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use address::{BuildId, FileOffset};
use hashbrown::HashMap;
use host::{FileStamp, Host, HostError};

use crate::elf::{ElfData, Image, ImageError, MadeOf};
use crate::search::FileCandidate;

/// What is kept at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageLimits {
    /// Files.
    pub files: usize,
    /// Bytes of them, mapped or in memory.
    pub bytes: u64,
}

impl Default for ImageLimits {
    fn default() -> Self {
        Self { files: 2048, bytes: 32 << 30 }
    }
}

/// How an image is made of a file: the same file is another image for each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Form {
    /// As it is.
    Whole,
    /// What is stored in an archive and mapped from there.
    Part(FileOffset),
    /// What is stored in an archive, here at that offset, and mapped by its own name: offsets are its own.
    Entry(FileOffset),
    /// Unpacked and laid out as the kernel lays out its modules.
    Kernel,
}

/// A content: which file, as of when, in which form.
pub(crate) type ContentKey = (FileStamp, Form);

/// What a separate debug file is known by: its build-id and its size.
pub(crate) type DebugMark = Option<(Option<BuildId>, usize)>;

/// A serial, and what it holds for: caches that are keyed by serials keep what was made of one content together with
/// the debug file that was found for it.
#[derive(Debug)]
pub(crate) struct CacheIdentity {
    pub(crate) serial: u32,
    /// In which places its debug file was looked for.
    search: u64,
    /// The debug file, once somebody looked for it.
    debug: OnceLock<DebugMark>,
}

impl CacheIdentity {
    /// Notes which debug file was found.
    pub(crate) fn note_debug(&self, mark: DebugMark) {
        // Runs that share a serial look in the same places; the first to look decides.
        let _ = self.debug.set(mark);
    }

    /// Which debug file was found, where somebody looked.
    pub(crate) fn debug(&self) -> Option<&DebugMark> {
        self.debug.get()
    }
}

/// Opened files, shared by runs that ask the same [`Host`], or hosts that give the same answers: a service has one for
/// recordings that it trusts and one for uploads.
///
/// Files are known by device, inode, size and time of change, and by build-id and size where two paths lead to one
/// content. Nothing is remembered of what is missing.
///
/// Every opened file has a serial, by which the unwinder keys its rules. Caches have room for 16 bits of it: when
/// [`Self::is_used_up`] says so, this value and all caches that were filled beside it are given up together, and a new
/// [`Self::generation`] begins.
#[derive(Debug)]
pub struct SharedImages {
    kept: Mutex<KeptImages>,
    next_serial: AtomicU32,
    /// Bytes of images that were made in memory and have a serial: caches hold those that they were asked about.
    provided_bytes: AtomicU64,
    generation: u64,
    limits: ImageLimits,
}

#[derive(Debug, Default)]
struct KeptImages {
    contents: HashMap<ContentKey, Entry>,
    by_id: HashMap<(BuildId, usize), ContentKey>,
    bytes: u64,
    /// Counts uses.
    clock: u64,
}

#[derive(Debug)]
struct Entry {
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
    /// Keeps nothing yet, and at most so much.
    #[must_use]
    pub fn new(limits: ImageLimits) -> Self {
        static GENERATION: AtomicU64 = AtomicU64::new(1);
        Self {
            kept: Mutex::default(),
            next_serial: AtomicU32::new(0),
            provided_bytes: AtomicU64::new(0),
            generation: GENERATION.fetch_add(1, Ordering::Relaxed),
            limits,
        }
    }

    /// An id that no other such value of the process has: what is cached by serials belongs to it.
    #[must_use]
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// Whether hardly any serials are left, or so much was made in memory that caches should let go of it. What is still
    /// opened works, but without serials its rules are not cached.
    #[must_use]
    pub fn is_used_up(&self) -> bool {
        const SERIALS: u32 = 1 << 16;
        /// More than one recording maps as a rule.
        const RESERVE: u32 = 1 << 12;
        /// Bytes of JIT code, for the most part.
        const PROVIDED: u64 = 1 << 30;
        self.next_serial.load(Ordering::Relaxed) > SERIALS - RESERVE
            || self.provided_bytes.load(Ordering::Relaxed) > PROVIDED
    }

    /// How many files are kept.
    #[must_use]
    pub fn n_kept(&self) -> usize {
        self.with(|kept| kept.contents.len())
    }

    /// Opens a file, or takes it from what is kept.
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
            known = self.with(|kept| kept.find(&key)).map(|data| (key, data));
            known.is_some()
        })?;
        let Some(file) = file else {
            // That it is known is why there is no file.
            let (key, data) = known.ok_or_else(|| HostError::missing(path))?;
            return Ok((image_of(path, origin.root(), data, &key), key));
        };
        let key = (file.stamp, form);
        let data = Arc::new(parse(path, file.content)?);
        let (key, data) = self.with(|kept| kept.keep(key, data, self.limits));
        Ok((image_of(path, origin.root(), data, &key), key))
    }

    /// Counts an image that was made in memory.
    pub(crate) fn count_provided(&self, image: &Image) {
        self.provided_bytes.fetch_add(image.bytes().len() as u64, Ordering::Relaxed);
    }

    /// An identity for a content in a run that looks for debug files as `search` says, of those that `fits` takes;
    /// a new one where there is none.
    pub(crate) fn identity(
        &self,
        key: Option<&ContentKey>,
        search: u64,
        mut fits: impl FnMut(&CacheIdentity) -> bool,
    ) -> Arc<CacheIdentity> {
        let known = key.map_or_else(Vec::new, |key| self.with(|kept| kept.identities(key)));
        let known = known.into_iter().find(|known| known.search == search && fits(known));
        known.unwrap_or_else(|| {
            let serial = self.next_serial.fetch_add(1, Ordering::Relaxed);
            let new = Arc::new(CacheIdentity { serial, search, debug: OnceLock::new() });
            if let Some(key) = key {
                self.with(|kept| kept.add_identity(key, &new));
            }
            new
        })
    }

    fn with<T>(&self, f: impl FnOnce(&mut KeptImages) -> T) -> T {
        // A panic of another thread cannot leave the maps half-changed.
        f(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The image of a content, by a path that leads to it.
fn image_of(path: &Path, root: Option<&Path>, data: Arc<ElfData>, key: &ContentKey) -> Image {
    let (stamp, form) = *key;
    let form = match form {
        Form::Whole => (0, 0),
        Form::Part(offset) => (1, offset.0),
        Form::Entry(offset) => (2, offset.0),
        Form::Kernel => (3, 0),
    };
    Image::of(path, root, data).made_of(MadeOf { stamp, form })
}

impl KeptImages {
    fn find(&mut self, key: &ContentKey) -> Option<Arc<ElfData>> {
        self.clock += 1;
        let entry = self.contents.get_mut(key)?;
        entry.used = self.clock;
        Some(entry.data.clone())
    }

    /// Keeps a content, unless it is kept already: the same file, or another one of the same build-id and size.
    fn keep(
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
        self.contents.insert(key, Entry { data: data.clone(), identities: Vec::new(), used });
        while self.contents.len() > limits.files.max(1) || self.bytes > limits.bytes {
            if !self.forget_oldest(&key) {
                break;
            }
        }
        (key, data)
    }

    /// Forgets what was used longest ago, but not `spared`.
    fn forget_oldest(&mut self, spared: &ContentKey) -> bool {
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

    /// Adds an identity. Of those whose debug files are not there any more, a few are kept.
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
