//! Sources out of the image store: a loaded file with its separate debug files, and the files of its split units.

use image_store::{Image, ImageStore, LoadedImage};

use crate::request::{SplitFinder, SymbolSource};

/// The split units of one loaded file, which the store finds when they are asked for.
#[derive(Debug)]
pub struct StoredSplits<'l> {
    /// The linked file.
    pub file: &'l LoadedImage,
    /// The store that it is of.
    pub images: &'l ImageStore,
}

impl SplitFinder for StoredSplits<'_> {
    fn find(&self, _id: u64, directory: &[u8], name: &[u8]) -> Option<&Image> {
        self.file.split(self.images, directory, name)
    }
}

impl<'a> SymbolSource<'a> {
    /// A loaded file with all that the store has beside it, but for split units. Finds and opens the separate files,
    /// where that was not done yet.
    #[must_use]
    pub fn of_loaded(file: &'a LoadedImage, images: &'a ImageStore) -> Self {
        Self { mini: file.mini(images), ..Self::of_files(file, images) }
    }

    /// The same without what is unpacked of the file: what tells of which files answers come, and costs little.
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
