//! Reader of the columns of a row group, one row after the other.

use bytes::Bytes;
use parquet::basic::{Encoding, Type as PhysicalType};
use parquet::column::page::{Page, PageReader};
use parquet::file::reader::RowGroupReader;

use super::decode::{PlainValue, hybrid};
use super::error::StacksError;
use super::place::{LeafPlace, place_of};

/// Maximum number of values in a page. Writers make pages of about a megabyte.
const MOST_VALUES: usize = 1 << 24;

/// A type of values in a column.
pub(super) trait ColumnValue: PlainValue {
    /// The type in files.
    const TYPE: PhysicalType;
}

impl ColumnValue for Bytes {
    const TYPE: PhysicalType = PhysicalType::BYTE_ARRAY;
}

impl ColumnValue for i64 {
    const TYPE: PhysicalType = PhysicalType::INT64;
}

impl ColumnValue for bool {
    const TYPE: PhysicalType = PhysicalType::BOOLEAN;
}

/// The values of a column, from page to page.
pub(super) struct Column<V> {
    name: &'static str,
    place: LeafPlace,
    pages: Box<dyn PageReader>,
    dictionary: Vec<V>,
    /// Repetition and definition level of each entry of the page.
    levels: Vec<(u32, u32)>,
    /// The values of the page, in reverse order.
    values: Vec<V>,
    /// Index of the next entry.
    at: usize,
    list: Vec<Option<V>>,
}

impl<V: ColumnValue> Column<V> {
    /// Opens a column: of the rows, or with `is_list` of their frames.
    ///
    /// # Errors
    /// If it is missing or has another type.
    pub(super) fn open(
        group: &dyn RowGroupReader,
        name: &'static str,
        is_list: bool,
    ) -> Result<Self, StacksError> {
        let place = place_of(group, name, is_list, V::TYPE);
        let place = place.ok_or(StacksError::Column { column: name })?;
        Ok(Self {
            name,
            place,
            pages: group.get_column_page_reader(place.index)?,
            dictionary: Vec::new(),
            levels: Vec::new(),
            values: Vec::new(),
            at: 0,
            list: Vec::new(),
        })
    }

    /// Returns the value of the next row.
    ///
    /// # Errors
    /// If the file is damaged, or the value is missing.
    pub(super) fn next_value(&mut self) -> Result<V, StacksError> {
        self.next_list()?;
        match self.list.pop() {
            Some(Some(value)) if self.list.is_empty() => Ok(value),
            _ => Err(self.damaged()),
        }
    }

    /// Returns the values of the next row's frames.
    ///
    /// # Errors
    /// If the file is damaged, or has no further row.
    pub(super) fn next_list(&mut self) -> Result<&[Option<V>], StacksError> {
        self.list.clear();
        let mut is_first = true;
        while self.has_entry()? {
            let Some(&(repeated, defined)) = self.levels.get(self.at) else { break };
            if repeated == 0 && !is_first {
                break;
            }
            is_first = false;
            self.at += 1;
            if defined >= self.place.element {
                let value = if defined == self.place.value { self.values.pop() } else { None };
                self.list.push(value);
            }
        }
        if is_first { Err(self.damaged()) } else { Ok(&self.list) }
    }

    /// Returns true if there is a further entry; reads pages until there is one.
    fn has_entry(&mut self) -> Result<bool, StacksError> {
        while self.at >= self.levels.len() {
            let Some(page) = self.pages.get_next_page()? else { return Ok(false) };
            self.take(page)?;
        }
        Ok(true)
    }

    fn take(&mut self, page: Page) -> Result<(), StacksError> {
        let damaged = self.damaged();
        let n = page.num_values() as usize;
        if n > MOST_VALUES {
            return Err(damaged);
        }
        let encoding = page.encoding();
        let (levels, values) = match page {
            Page::DictionaryPage { buf, .. } => {
                self.dictionary = V::plain(buf, n).ok_or(damaged)?;
                return Ok(());
            }
            Page::DataPage { buf, .. } => self.first_version(buf, n).ok_or(damaged)?,
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, .. } => {
                let lengths = (rep_levels_byte_len as usize, def_levels_byte_len as usize);
                self.second_version(&buf, n, lengths).ok_or(damaged)?
            }
        };
        let there = levels.iter().filter(|(_, defined)| *defined == self.place.value).count();
        self.values = self.decoded(encoding, values, there)?;
        self.values.reverse();
        (self.levels, self.at) = (levels, 0);
        Ok(())
    }

    fn decoded(&self, encoding: Encoding, page: Bytes, n: usize) -> Result<Vec<V>, StacksError> {
        match encoding {
            Encoding::PLAIN => V::plain(page, n).ok_or_else(|| self.damaged()),
            Encoding::RLE => V::runs(&page, n).ok_or_else(|| self.damaged()),
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => {
                self.looked_up(&page, n).ok_or_else(|| self.damaged())
            }
            other => Err(StacksError::Encoding { column: self.name, encoding: other.to_string() }),
        }
    }

    /// Returns values by their indexes in the dictionary.
    fn looked_up(&self, page: &[u8], n: usize) -> Option<Vec<V>> {
        if n == 0 {
            return Some(Vec::new());
        }
        let (&width, indexes) = page.split_first()?;
        let indexes = hybrid(indexes, u32::from(width), n)?;
        indexes.into_iter().map(|at| self.dictionary.get(at as usize).cloned()).collect()
    }

    /// Returns the levels of a page whose levels have lengths in front, and its values.
    fn first_version(&self, mut page: Bytes, n: usize) -> Option<(Vec<(u32, u32)>, Bytes)> {
        let mut next = |most: u32| {
            if most == 0 {
                return Some(vec![0; n]);
            }
            let length = page.get(..4)?.first_chunk::<4>().map(|it| u32::from_le_bytes(*it))?;
            let end = 4 + length as usize;
            let levels = hybrid(page.get(4..end)?, width_of(most), n)?;
            page = page.slice(end..);
            Some(levels)
        };
        let (repeated, defined) = (next(self.place.repeated)?, next(self.place.value)?);
        Some((repeated.into_iter().zip(defined).collect(), page))
    }

    /// Returns the levels of a page whose header has their lengths, and its values.
    fn second_version(
        &self,
        page: &Bytes,
        n: usize,
        (repeated, defined): (usize, usize),
    ) -> Option<(Vec<(u32, u32)>, Bytes)> {
        let levels = |range: std::ops::Range<usize>, most| {
            if most == 0 { Some(vec![0; n]) } else { hybrid(page.get(range)?, width_of(most), n) }
        };
        let end = repeated.checked_add(defined).filter(|&end| end <= page.len())?;
        let all = levels(0..repeated, self.place.repeated)?;
        let all = all.into_iter().zip(levels(repeated..end, self.place.value)?);
        Some((all.collect(), page.slice(end..)))
    }

    const fn damaged(&self) -> StacksError {
        StacksError::Damaged { column: self.name }
    }
}

/// Number of bits of levels up to `most`.
const fn width_of(most: u32) -> u32 {
    u32::BITS - most.leading_zeros()
}
