//! The size of perf's buffers.

use std::fmt::{self, Display, Formatter};

/// Size of a buffer of perf for one processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BufferSize {
    number: u64,
    /// Letter of perf's unit; `None` for pages.
    unit: Option<char>,
}

impl BufferSize {
    /// Reads a number of pages, or a size with a unit.
    ///
    /// Source: `tools/perf/util/evlist.c`, `parse_pages_arg`: the units are upper-case letters.
    ///
    /// # Errors
    /// If it is neither, or 0, or exceeds the address space.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let unit = text.chars().next_back().filter(char::is_ascii_alphabetic);
        let digits = &text[..text.len() - unit.map_or(0, char::len_utf8)];
        let unit = unit.map(|unit| unit.to_ascii_uppercase());
        let number = digits.parse().ok().filter(|number| *number > 0);
        let size = number.map(|number| Self { number, unit });
        let is_valid = |size: &Self| size.bytes().is_some_and(|bytes| bytes <= 1 << 40);
        size.filter(is_valid)
            .ok_or_else(|| "expected pages, or a size with B, K, M or G, up to 1024G".to_owned())
    }

    /// Returns the size before it is rounded; `None` if the unit is unknown or it is too large.
    fn bytes(self) -> Option<u64> {
        let unit = match self.unit {
            None => rustix::param::page_size() as u64,
            Some('B') => 1,
            Some('K') => 1 << 10,
            Some('M') => 1 << 20,
            Some('G') => 1 << 30,
            Some(_) => return None,
        };
        self.number.checked_mul(unit)
    }

    /// Returns the largest size that locks at most `kb` KiB for each processor.
    pub(crate) fn largest_within(kb: u64) -> Self {
        let page = rustix::param::page_size() as u64 / 1024;
        let rest = kb.saturating_sub(page).max(page);
        Self { number: 1 << rest.ilog2(), unit: Some('K') }
    }

    /// Returns the memory that perf locks for each processor, in KiB: a power of two, and the page before it.
    pub(crate) fn locked_kb(self) -> u64 {
        let page = rustix::param::page_size() as u64;
        let pages = self.bytes().unwrap_or_default().div_ceil(page).next_power_of_two();
        (pages + 1) * page / 1024
    }
}

impl Display for BufferSize {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number)?;
        self.unit.map_or(Ok(()), |unit| write!(f, "{unit}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        let text = |text: &str| BufferSize::parse(text).map(|size| size.to_string());
        for (given, passed) in [("64", "64"), ("512K", "512K"), ("4m", "4M"), ("9000B", "9000B")] {
            assert_eq!(text(given), Ok(passed.to_owned()));
        }
        let error = "expected pages, or a size with B, K, M or G, up to 1024G";
        for wrong in ["", "0", "4T", "M", "-1", "1,2", "4é", "2000G", "99999999999999999999"] {
            assert_eq!(text(wrong), Err(error.to_owned()));
        }
    }

    #[test]
    fn perf_rounds_up() {
        let kb = |text: &str| BufferSize::parse(text).map(BufferSize::locked_kb);
        let page = rustix::param::page_size() as u64 / 1024;
        assert_eq!(kb("3M"), Ok(4096 + page));
        assert_eq!((kb("1"), kb("3")), (Ok(2 * page), Ok(5 * page)));
        let largest = |kb| BufferSize::largest_within(kb).to_string();
        assert_eq!((largest(512 + page), largest(511 + page)), ("512K".into(), "256K".into()));
    }
}
