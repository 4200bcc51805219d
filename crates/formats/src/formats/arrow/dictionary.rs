//! Dictionary-encoded names: a stream contains each distinct name once, and columns contain its index.

use address::ById as _;
use std::borrow::Cow;
use std::sync::Arc;

use crate::render::truncation::in_table;
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{ArrayRef, DictionaryArray, Int8Array, Int32Array, StringArray};
use arrow_schema::ArrowError;
use hashbrown::HashMap;
use profile::{Profile, RowId, StringId};

/// The distinct names of a table's rows.
#[derive(Debug)]
pub(super) struct Dictionary {
    names: ArrayRef,
    /// By row of that table: index of its name.
    numbers: Vec<Option<i32>>,
}

impl Dictionary {
    /// Builds the dictionary from the name of each row of a table; `None` for a row without a name.
    pub(super) fn new<'a>(rows: impl Iterator<Item = Option<Cow<'a, [u8]>>>) -> Self {
        let mut distinct: HashMap<String, i32> = HashMap::new();
        let mut names = Vec::new();
        let numbers = rows.map(|row| {
            // Names that differ only in bytes that are not UTF-8 are merged.
            let text = match row? {
                Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                Cow::Owned(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            };
            let next = i32::try_from(names.len()).ok()?;
            Some(*distinct.entry(text).or_insert_with_key(|text| {
                names.push(text.clone());
                next
            }))
        });
        let numbers = numbers.collect();
        Self { names: Arc::new(StringArray::from(names)), numbers }
    }

    /// Builds the dictionary of the profile's strings listed in `used`.
    pub(super) fn of_strings(profile: &Profile, used: impl Iterator<Item = StringId>) -> Self {
        let mut is_used = vec![false; profile.strings.len()];
        for id in used {
            if let Some(mark) = is_used.by_id_mut(id) {
                *mark = true;
            }
        }
        let string = |index| in_table(profile.strings.get(StringId::from_index(index)));
        Self::new(is_used.into_iter().enumerate().map(|(index, used)| used.then(|| string(index))))
    }

    /// Returns a column with the names of the given rows.
    ///
    /// # Errors
    /// None for rows of this dictionary.
    pub(super) fn column<I: RowId>(
        &self,
        rows: impl Iterator<Item = Option<I>>,
    ) -> Result<DictionaryArray<Int32Type>, ArrowError> {
        let number = |row: Option<I>| self.numbers.get(row?.index()).copied().flatten();
        let numbers: Int32Array = rows.map(number).collect();
        DictionaryArray::try_new(numbers, Arc::clone(&self.names))
    }

    /// Returns a column of `length` rows that all have the name of the dictionary's first row, or null.
    ///
    /// # Errors
    /// None for fewer than 2^31 rows.
    pub(super) fn repeated(&self, length: usize) -> Result<DictionaryArray<Int32Type>, ArrowError> {
        let number = self.numbers.first().copied().flatten();
        let numbers: Int32Array = std::iter::repeat_n(number, length).collect();
        DictionaryArray::try_new(numbers, Arc::clone(&self.names))
    }
}

/// A dictionary of keywords.
#[derive(Debug)]
pub(super) struct KeywordDictionary {
    keywords: ArrayRef,
}

impl KeywordDictionary {
    pub(super) fn new(keywords: impl Iterator<Item = &'static str>) -> Self {
        Self { keywords: Arc::new(StringArray::from_iter_values(keywords)) }
    }

    /// Returns a column of the words with the given indexes.
    ///
    /// # Errors
    /// Returns an error if an index is past the end of the list.
    pub(super) fn column(
        &self,
        numbers: impl Iterator<Item = u8>,
    ) -> Result<DictionaryArray<Int8Type>, ArrowError> {
        let numbers: Int8Array = numbers.map(|number| i8::try_from(number).ok()).collect();
        DictionaryArray::try_new(numbers, Arc::clone(&self.keywords))
    }
}
