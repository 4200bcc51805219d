//! The functions of a table, by address.

use address::Svma;
use module_map::Image;

use crate::bytes::{string_at, u32_at, u64_at};
use crate::function::GoFunction;
use crate::layout::{Layout, Version};

/// The functions that a table lists.
#[derive(Clone, Copy)]
pub struct GoFunctions<'i> {
    /// The file, for its code.
    pub(crate) image: &'i Image,
    /// The table.
    pub(crate) bytes: &'i [u8],
    pub(crate) layout: Layout,
    /// Where the code begins.
    pub(crate) text: u64,
    /// The trees of inlined calls, if they were found.
    pub(crate) inlined_calls: &'i [u8],
}

impl std::fmt::Debug for GoFunctions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GoFunctions").field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl<'i> GoFunctions<'i> {
    /// Bytes of the table.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The function that code at an address belongs to, or returns to: the runtime makes goroutines return to the first
    /// instruction of a function that called nobody, and the look-up one byte before is in the bytes that fill the gap in
    /// front of it. With the address that is meant.
    #[must_use]
    pub fn returned_to(&self, svma: Svma) -> Option<(GoFunction<'i>, Svma)> {
        const FILL: &[u8] = &[0xcc];
        let function = self.at(svma)?;
        let next = svma.add(1);
        if next != function.end || self.image.read_only_bytes(svma, 1) != Some(FILL) {
            return Some((function, svma));
        }
        Some((self.at(next)?, next))
    }

    /// The function of an address. Its record has to be of the same function as the list says.
    #[must_use]
    pub fn at(&self, svma: Svma) -> Option<GoFunction<'i>> {
        let (mut low, mut high) = (0, self.layout.functions);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.start(middle)? <= svma.0 {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let index = low.checked_sub(1)?;
        let (start, end) = (self.start(index)?, self.start(low)?);
        if !(start..end).contains(&svma.0) {
            return None;
        }
        let record = self.layout.records.checked_add(self.record(index)?)?;
        let stated = match self.layout.version {
            Version::Go116 => u64_at(self.bytes, record)?,
            _ => self.text.wrapping_add(u32_at(self.bytes, record)?.into()),
        };
        let function = GoFunction { of: *self, record, start: Svma(start), end: Svma(end) };
        (stated == start).then_some(function)
    }

    /// The addresses that the functions lie between.
    pub(crate) fn extent(&self) -> Option<(u64, u64)> {
        Some((self.start(0)?, self.start(self.layout.functions)?))
    }

    /// Where a function begins, or the code ends.
    fn start(&self, index: usize) -> Option<u64> {
        let word = self.word(2 * index)?;
        match self.layout.version {
            Version::Go116 => Some(word),
            _ => Some(self.text.wrapping_add(word)),
        }
    }

    fn record(&self, index: usize) -> Option<usize> {
        usize::try_from(self.word(2 * index + 1)?).ok()
    }

    fn word(&self, index: usize) -> Option<u64> {
        let size = self.layout.entry_word();
        let at = self.layout.records.checked_add(index.checked_mul(size)?)?;
        match self.layout.version {
            Version::Go116 => u64_at(self.bytes, at),
            _ => u32_at(self.bytes, at).map(u64::from),
        }
    }

    /// The name at an offset of the names, which has to be one's beginning.
    pub(crate) fn name(&self, offset: u32) -> Option<&'i [u8]> {
        let offset = usize::try_from(offset).ok()?;
        let at = self.layout.names.checked_add(offset)?;
        let is_start = offset == 0 || self.bytes.get(at.checked_sub(1)?) == Some(&0);
        string_at(self.bytes, at).filter(|_| is_start)
    }
}
