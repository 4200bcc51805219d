//! An opened file and the further files that belong to it, each looked for when it is first wanted.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::split_dwarf::SplitFiles;
use super::{Library, debug_file};
use crate::elf::Image;
use crate::elf::unpack;

/// An opened file and what belongs to it. Shared by all modules of the same content.
#[derive(Debug)]
pub struct LoadedImage {
    /// Unique among the images of a run; the key of caches.
    pub serial: u32,
    image: Image,
    debug: OnceLock<Option<Arc<Image>>>,
    alt: OnceLock<Option<Arc<Image>>>,
    mini: OnceLock<Option<Image>>,
    split: SplitFiles,
}

impl LoadedImage {
    pub(crate) fn new(serial: u32, image: Image) -> Self {
        Self {
            serial,
            image,
            debug: OnceLock::new(),
            alt: OnceLock::new(),
            mini: OnceLock::new(),
            split: SplitFiles::default(),
        }
    }

    /// The file that is mapped at run time.
    #[must_use]
    pub const fn image(&self) -> &Image {
        &self.image
    }

    /// Its separate debug file, looked for at the first call and checked by build-id or CRC.
    pub fn debug(&self, library: &Library) -> Option<&Arc<Image>> {
        self.debug.get_or_init(|| debug_file::find(&self.image, library.options())).as_ref()
    }

    /// The debug file, if somebody asked for it and there is one.
    pub fn debug_if_loaded(&self) -> Option<&Arc<Image>> {
        self.debug.get().and_then(Option::as_ref)
    }

    /// The supplementary file that the debug file or the file itself names (dwz), proven by its build-id.
    pub fn alt(&self, library: &Library) -> Option<&Arc<Image>> {
        let find = || {
            let debug = self.debug(library).map(|debug| &**debug);
            debug_file::find_alt(&self.image, debug, library.options())
        };
        self.alt.get_or_init(find).as_ref()
    }

    /// The symbols that distributions leave in a stripped file.
    ///
    /// Source: the GDB manual, "`MiniDebugInfo`": `.gnu_debugdata` is an ELF file packed with xz.
    pub fn mini(&self) -> Option<&Image> {
        let open = || {
            let packed = self.image.section_data(self.image.section(".gnu_debugdata")?).ok()?;
            let mut name = self.image.path().as_os_str().to_owned();
            name.push("[.gnu_debugdata]");
            Image::from_vec(&PathBuf::from(name), unpack(&packed).ok()?.into_owned()).ok()
        };
        self.mini.get_or_init(open).as_ref()
    }

    /// The file of a split unit: by the unit's id, its compilation directory and its `DW_AT_dwo_name`.
    pub fn split(&self, library: &Library, id: u64, dir: &[u8], name: &[u8]) -> Option<&Image> {
        let debug = self.debug_if_loaded().map(|debug| &**debug);
        self.split.find(&self.image, debug, library.options(), (id, dir, name))
    }
}
