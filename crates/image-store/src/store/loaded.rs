//! An opened file and its associated files, each searched at the first request.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use address::Svma;

use super::debug;
use super::debug::SplitFiles;
use super::images::ImageStore;
use super::shared::{CacheIdentity, DebugMark};
use crate::elf::{CallSlot, CodeSymbols, FileAllowance, Image, Section, unpack};
use crate::search::FileFindingKind;

/// An opened file and its associated files, as found by one run. Shared by all modules of the same content.
#[derive(Debug)]
pub struct LoadedImage {
    /// Key of caches. Unique within one [`crate::SharedImages`], and equal in another run with
    /// the same content and debug file.
    pub serial: u32,
    identity: Arc<CacheIdentity>,
    image: Image,
    debug: OnceLock<Option<Arc<Image>>>,
    alt: OnceLock<Option<Arc<Image>>>,
    mini: OnceLock<Option<Image>>,
    call_slots: OnceLock<Vec<(u64, CallSlot)>>,
    /// Symbols of the file and of its debug file.
    symbols: OnceLock<Mutex<[CodeSymbols; 2]>>,
    split: SplitFiles,
}

impl LoadedImage {
    pub(crate) fn new(
        identity: Arc<CacheIdentity>,
        image: Image,
        debug: OnceLock<Option<Arc<Image>>>,
    ) -> Self {
        if let Some(debug) = debug.get() {
            identity.note_debug(mark_of(debug.as_deref()));
        }
        Self {
            serial: identity.serial,
            identity,
            image,
            debug,
            alt: OnceLock::new(),
            mini: OnceLock::new(),
            call_slots: OnceLock::new(),
            symbols: OnceLock::new(),
            split: SplitFiles::default(),
        }
    }

    /// File mapped at run time.
    #[must_use]
    pub const fn image(&self) -> &Image {
        &self.image
    }

    /// Returns the value that the dynamic loader writes to a word of the global offset table,
    /// given the word's address in the file.
    pub fn call_slot(&self, slot: u64) -> Option<CallSlot> {
        let slots = self.call_slots.get_or_init(|| self.image.call_slots());
        let at = slots.binary_search_by_key(&slot, |&(known, _)| known).ok()?;
        slots.get(at).map(|&(_, value)| value)
    }

    /// Returns true if a symbol marks the code at a start address in the file as part of a
    /// function: `.cold`, moved out, or a veneer.
    pub fn is_part(&self, svma: Svma, store: &ImageStore) -> bool {
        self.with_symbols(store, |image, symbols| image.is_part(symbols, svma))
    }

    /// Returns true if a symbol marks the code at `part` as a part of the function that starts at `whole`.
    pub fn is_part_of(&self, part: Svma, whole: Svma, store: &ImageStore) -> bool {
        self.with_symbols(store, |image, symbols| image.is_part_of(symbols, part, whole))
    }

    /// Queries the file, then its debug file.
    fn with_symbols(
        &self,
        store: &ImageStore,
        is_it: impl Fn(&Image, &mut CodeSymbols) -> bool,
    ) -> bool {
        let images = [Some(&self.image), self.debug(store).map(|debug| &**debug)];
        let read = || Mutex::new(images.map(|it| it.map(Image::code_symbols).unwrap_or_default()));
        let symbols = self.symbols.get_or_init(read);
        let mut symbols = symbols.lock().unwrap_or_else(PoisonError::into_inner);
        let mut pairs = images.into_iter().zip(&mut *symbols);
        pairs.any(|(image, symbols)| image.is_some_and(|image| is_it(image, symbols)))
    }

    /// Returns the separate debug file, searched at the first call and checked by build-id or CRC.
    pub fn debug(&self, store: &ImageStore) -> Option<&Arc<Image>> {
        let find = || {
            let found = debug::find(&self.image, store);
            self.identity.note_debug(mark_of(found.as_deref()));
            found
        };
        self.debug.get_or_init(find).as_ref()
    }

    /// Returns the debug file if it was requested before and exists.
    pub fn debug_if_loaded(&self) -> Option<&Arc<Image>> {
        self.debug.get().and_then(Option::as_ref)
    }

    /// Returns the supplementary file (dwz) stated by the debug file or the file itself, proven by its build-id.
    pub fn alt(&self, store: &ImageStore) -> Option<&Arc<Image>> {
        let find = || {
            let debug = self.debug(store).map(|debug| &**debug);
            debug::find_alt(&self.image, debug, store)
        };
        self.alt.get_or_init(find).as_ref()
    }

    /// Returns the symbols that distributions leave in a stripped file.
    ///
    /// Source: the GDB manual, "`MiniDebugInfo`": `.gnu_debugdata` is an ELF file compressed with xz.
    pub fn mini(&self, store: &ImageStore) -> Option<&Image> {
        let open = || self.open_mini(store, self.image.section(".gnu_debugdata")?);
        self.mini.get_or_init(open).as_ref()
    }

    fn open_mini(&self, store: &ImageStore, section: &Section) -> Option<Image> {
        let damaged = || {
            let path = self.image.path().display();
            let message = format!(
                "{path}: section .gnu_debugdata cannot be decompressed; function names are missing"
            );
            store.note(FileFindingKind::Section, message);
            None
        };
        let Ok(data) = self.image.section_data(section) else { return damaged() };
        let mut allowance = FileAllowance::new(&store.options().budget, data.len());
        let unpacked = unpack(&data, &mut allowance);
        let omitted = allowance.into_omitted();
        store.note_omitted(&self.image, ".gnu_debugdata: ", &omitted);
        let Ok(unpacked) = unpacked else {
            return if omitted.is_empty() { damaged() } else { None };
        };
        let unpacked = unpacked.into_owned();
        if !store.may_hold(self.image.path(), unpacked.len() as u64) {
            return None;
        }
        let mut name = self.image.path().as_os_str().to_owned();
        name.push("[.gnu_debugdata]");
        Image::from_vec(&PathBuf::from(name), unpacked).ok().or_else(damaged)
    }

    /// Returns true if no requested part of the file or its associated files was omitted or truncated.
    pub fn is_whole(&self, store: &ImageStore) -> bool {
        let others = [self.debug_if_loaded(), self.alt.get().and_then(Option::as_ref)];
        let others = others.into_iter().flatten().map(|other| &**other);
        let is_whole = |image: &Image| image.omitted().is_empty() && !image.was_truncated();
        let has_mini = self.image.section(".gnu_debugdata").is_some();
        std::iter::once(&self.image).chain(others).all(is_whole)
            && (!has_mini || self.mini(store).is_some_and(is_whole))
    }

    /// Returns the split DWARF package of the program. It may lack units or have those of another build.
    pub fn package(&self, store: &ImageStore) -> Option<&Image> {
        let debug = self.debug_if_loaded().map(|debug| &**debug);
        self.split.package(&self.image, debug, store)
    }

    /// Returns the file of a split unit by its compilation directory and its `DW_AT_dwo_name`.
    pub fn split(&self, store: &ImageStore, dir: &[u8], name: &[u8]) -> Option<&Image> {
        let debug = self.debug_if_loaded().map(|debug| &**debug);
        self.split.find(&self.image, debug, store, dir, name)
    }
}

/// Returns the identity of a debug file.
pub(crate) fn mark_of(debug: Option<&Image>) -> DebugMark {
    debug.map(|debug| (debug.build_id(), debug.bytes().len()))
}
