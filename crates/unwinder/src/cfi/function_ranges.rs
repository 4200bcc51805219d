//! The range of the function that covers an address, by the symbols of its file.

use std::ops::Range;
use std::sync::OnceLock;

use address::Svma;
use image_store::{ImageStore, LoadedImage};

/// Ranges of the functions that the symbols of a file, or of its debug file, name. They are read on the first query.
#[derive(Debug, Default)]
pub(crate) struct FunctionRanges(OnceLock<Vec<Range<Svma>>>);

/// Symbols before an address that are examined: several can begin at one address, and one inside another.
const MOST_BEFORE: usize = 16;

impl FunctionRanges {
    /// Returns the range of the innermost function that covers an address.
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
