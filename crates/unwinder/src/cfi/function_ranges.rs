//! The range of the function of an address, by the symbols of its file.

use std::ops::Range;
use std::sync::OnceLock;

use address::Svma;
use image_store::{ImageStore, LoadedImage};

/// The functions that the symbols of a file, or of its debug file, name. They are read when somebody first asks.
#[derive(Debug, Default)]
pub(crate) struct FunctionRanges(OnceLock<Vec<Range<Svma>>>);

/// Symbols before an address that are looked at: several can begin at one place, and one within another.
const MOST_BEFORE: usize = 16;

impl FunctionRanges {
    /// The range of the innermost function that covers an address.
    pub(crate) fn of(
        &self,
        svma: Svma,
        file: &LoadedImage,
        images: &ImageStore,
    ) -> Option<Range<Svma>> {
        let ranges = self.0.get_or_init(|| {
            let mut ranges = file.image().function_ranges();
            if ranges.is_empty()
                && let Some(debug) = file.debug(images)
            {
                ranges = debug.function_ranges();
            }
            ranges
        });
        let after = ranges.partition_point(|range| range.start <= svma);
        let before = ranges.get(after.saturating_sub(MOST_BEFORE)..after)?;
        before.iter().rev().find(|range| range.contains(&svma)).cloned()
    }
}
