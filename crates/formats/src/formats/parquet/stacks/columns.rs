//! Reader of the columns of a row group, one row after the other.

use bytes::Bytes;
use parquet::basic::Type as PhysicalType;
use parquet::file::reader::RowGroupReader;

use super::super::decode::PlainValue;
use super::super::pages::{LeafPages, MaxLevels, PageError};
use super::error::StacksError;
use super::place::{LeafPlace, place_of};

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
    pages: LeafPages<V>,
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
        let most = MaxLevels { defined: place.value, repeated: place.repeated };
        Ok(Self {
            name,
            place,
            pages: LeafPages::new(group.get_column_page_reader(place.index)?, most),
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
            let page = self.pages.next_page().map_err(|error| self.failure(error))?;
            let Some(mut page) = page else { return Ok(false) };
            page.values.reverse();
            (self.levels, self.values, self.at) = (page.levels, page.values, 0);
        }
        Ok(true)
    }

    fn failure(&self, error: PageError) -> StacksError {
        match error {
            PageError::Parquet(error) => error.into(),
            PageError::Damaged => self.damaged(),
            PageError::Encoding(encoding) => {
                StacksError::Encoding { column: self.name, encoding: encoding.to_string() }
            }
        }
    }

    const fn damaged(&self) -> StacksError {
        StacksError::Damaged { column: self.name }
    }
}
