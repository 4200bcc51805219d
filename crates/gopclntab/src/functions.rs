//! The functions of a table, by address.

use crate::bytes::{u32_at, u64_at};
use crate::function::GoFunction;
use crate::layout::Version;
use crate::table_data::TableData;

/// The functions of a table.
#[derive(Clone, Copy, Debug)]
pub struct GoFunctions<'i>(pub(crate) TableData<'i>);

impl<'i> GoFunctions<'i> {
    /// Size of the table, in bytes.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.0.bytes.len()
    }

    /// Returns the function that code at an address belongs to or returns to, and the address to look up in it.
    /// The runtime makes goroutines return to the first instruction of a function that made no call. A look-up one byte
    /// before it is in the padding after the previous function.
    #[must_use]
    pub fn returned_to(&self, address: u64) -> Option<(GoFunction<'i>, u64)> {
        const FILL: &[u8] = &[0xcc];
        let function = self.at(address)?;
        let next = address.wrapping_add(1);
        if next != function.end || self.0.program.read_only_bytes(address, 1) != Some(FILL) {
            return Some((function, address));
        }
        Some((self.at(next)?, next))
    }

    /// Returns all functions, by address, except those with records that contradict the list.
    pub fn iter(&self) -> impl Iterator<Item = GoFunction<'i>> + use<'i> {
        let functions = *self;
        (0..self.0.layout.functions).filter_map(move |index| functions.get(index))
    }

    /// Returns the function at an address, if its record agrees with the list.
    #[must_use]
    pub fn at(&self, address: u64) -> Option<GoFunction<'i>> {
        let (mut low, mut high) = (0, self.0.layout.functions);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.start(middle)? <= address {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        self.get(low.checked_sub(1)?).filter(|function| address < function.end)
    }

    fn get(&self, index: usize) -> Option<GoFunction<'i>> {
        let (start, end) = (self.start(index)?, self.start(index + 1)?);
        let record = self.0.layout.records.checked_add(self.record(index)?)?;
        let stated = match self.0.layout.version {
            Version::Go116 => u64_at(self.0.bytes, record)?,
            _ => self.0.text.wrapping_add(u32_at(self.0.bytes, record)?.into()),
        };
        let function = GoFunction { of: self.0, record, start, end };
        (stated == start).then_some(function)
    }

    /// Returns the address range of all functions.
    pub(crate) fn extent(&self) -> Option<(u64, u64)> {
        Some((self.start(0)?, self.start(self.0.layout.functions)?))
    }

    /// Returns the start of a function, or the end of the code.
    fn start(&self, index: usize) -> Option<u64> {
        let word = self.word(2 * index)?;
        match self.0.layout.version {
            Version::Go116 => Some(word),
            _ => Some(self.0.text.wrapping_add(word)),
        }
    }

    fn record(&self, index: usize) -> Option<usize> {
        usize::try_from(self.word(2 * index + 1)?).ok()
    }

    fn word(&self, index: usize) -> Option<u64> {
        let size = self.0.layout.entry_word();
        let at = self.0.layout.records.checked_add(index.checked_mul(size)?)?;
        match self.0.layout.version {
            Version::Go116 => u64_at(self.0.bytes, at),
            _ => u32_at(self.0.bytes, at).map(u64::from),
        }
    }
}
