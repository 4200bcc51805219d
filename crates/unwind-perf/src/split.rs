//! Lends the files of split DWARF from the library to the symbolizer.

use module_map::{Image, Library, LoadedImage};
use symbolizer::SplitFiles;

/// The split files of one file.
pub(crate) struct SplitOf<'l> {
    pub(crate) file: &'l LoadedImage,
    pub(crate) library: &'l Library,
}

impl SplitFiles for SplitOf<'_> {
    fn find(&self, id: u64, directory: &[u8], name: &[u8]) -> Option<&Image> {
        self.file.split(self.library, id, directory, name)
    }
}
