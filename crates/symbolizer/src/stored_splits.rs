//! Sources from the image store: a loaded file with its separate debug files, and the files of its split units.

use image_store::{Image, ImageStore, LoadedImage};

use crate::request::{SplitFinder, SymbolSource};

/// The split units of one loaded file, which the store finds on request.
#[derive(Debug)]
pub struct StoredSplits<'l> {
    /// The linked file.
    pub file: &'l LoadedImage,
    /// Its store.
    pub images: &'l ImageStore,
}

impl SplitFinder for StoredSplits<'_> {
    fn find(&self, _id: u64, directory: &[u8], name: &[u8]) -> Option<&Image> {
        self.file.split(self.images, directory, name)
    }
}

impl<'a> SymbolSource<'a> {
    /// Returns a loaded file with all its separate files from the store, except for split units. Finds and opens them
    /// if necessary.
    #[must_use]
    pub fn of_loaded(file: &'a LoadedImage, images: &'a ImageStore) -> Self {
        Self { mini: file.mini(images), ..Self::of_files(file, images) }
    }

    /// Like [`Self::of_loaded`], without unpacked data. It is cheap, and identifies the files that answers come from.
    #[must_use]
    pub fn of_files(file: &'a LoadedImage, images: &'a ImageStore) -> Self {
        Self {
            image: file.image(),
            debug: file.debug(images).map(|debug| &**debug),
            alt: file.alt(images).map(|alt| &**alt),
            mini: None,
            split: None,
        }
    }
}
