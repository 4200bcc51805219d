//! Limits on the extent of symbols in a file: executable sections and frame descriptions.

use image_store::Image;

use crate::elf::descriptions::Descriptions;

/// Limits on the extent of symbols in a file.
pub(crate) struct CodeBounds<'a> {
    /// The address ranges of executable sections, which bound symbols and separate code from data. They are disjoint.
    sections: Vec<(u64, u64)>,
    descriptions: Descriptions<'a>,
}

impl<'a> CodeBounds<'a> {
    pub(crate) fn of(image: &'a Image) -> Self {
        let code = image.sections().iter().filter(|s| s.executable && s.allocated && s.size > 0);
        let mut ranges: Vec<_> =
            code.map(|s| (s.svma.0, s.svma.0.saturating_add(s.size))).collect();
        ranges.sort_unstable();
        // An overlap belongs to the first section.
        let mut end = 0;
        for range in &mut ranges {
            range.0 = range.0.max(end);
            end = end.max(range.1);
        }
        ranges.retain(|range| range.0 < range.1);
        Self { sections: ranges, descriptions: Descriptions::of(image) }
    }

    /// Returns the executable section around an address.
    pub(crate) fn section(&self, address: u64) -> Option<(u64, u64)> {
        let after = self.sections.partition_point(|range| range.0 <= address);
        let before = after.checked_sub(1).and_then(|before| self.sections.get(before));
        before.copied().filter(|range| address < range.1)
    }

    /// Returns the first address that cannot belong to the function at `start`, by the frame descriptions of the file.
    pub(crate) fn function_end(&self, start: u64) -> Option<u64> {
        self.descriptions.end(start)
    }
}
