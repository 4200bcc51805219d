//! Lookup of mappings, with moved text attributed to its file.

use address::Avma;
use module_map::{Mapping, Space};

use super::hole::{Hole, lacks_file};
use crate::store::ImageStore;

impl ImageStore {
    /// Returns the mapping of a space at an address. Executable memory without a file that is text of the
    /// surrounding file is returned as a mapping of this file.
    /// Opens that file if necessary; for other memory the check is one comparison.
    #[must_use]
    #[inline]
    pub fn mapping_at(&self, address: Avma, space: &Space) -> Option<Mapping> {
        let mapping = space.lookup(address)?;
        if !mapping.executable || !space.module(&mapping).is_some_and(lacks_file) {
            return Some(mapping);
        }
        Some(self.remapped_text(&mapping, space).unwrap_or(mapping))
    }

    /// Same as [`Self::mapping_at`], for a frame: [`Self::remapped_texts`] then contains the range.
    #[must_use]
    pub fn mapping_of_frame(&self, address: Avma, space: &Space) -> Option<Mapping> {
        let recorded = space.lookup(address)?;
        if !recorded.executable || !space.module(&recorded).is_some_and(lacks_file) {
            return Some(recorded);
        }
        let Some(filled) = self.remapped_text(&recorded, space) else { return Some(recorded) };
        if let (Some(hole), Some(by)) = (space.module(&recorded), space.module(&filled)) {
            self.note_remapped(hole, filled.start..filled.end, by);
        }
        Some(filled)
    }

    /// Returns memory without a file as a mapping of the surrounding file, if it is text of that file.
    #[must_use]
    pub fn remapped_text(&self, mapping: &Mapping, space: &Space) -> Option<Mapping> {
        let hole = Hole::around(mapping, space)?;
        let image = self.image(space.module(hole.after())?).ok()?;
        hole.filled(image.image())
    }
}
