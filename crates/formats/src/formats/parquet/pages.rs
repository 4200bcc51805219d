//! Pages of a column chunk: levels and values, decoded without panics.

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

use super::decode::{PlainValue, hybrid};

/// Maximum number of values in a page. Writers make pages of about a megabyte.
const MOST_VALUES: usize = 1 << 24;
/// Maximum number of rows per byte of a file. Distinct stacks need more bytes.
const ROWS_PER_BYTE: u64 = 1 << 10;

/// Reason that a page is not decoded.
#[derive(Debug)]
pub(super) enum PageError {
    /// The header or the compressed bytes are damaged.
    Parquet(ParquetError),
    /// The decompressed bytes are damaged.
    Damaged,
    /// An encoding of values that is not read.
    Encoding(Encoding),
}

/// Maximum levels of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MaxLevels {
    /// Definition level of a value that is present.
    pub(super) defined: u32,
    /// Repetition level of the innermost list.
    pub(super) repeated: u32,
}

/// Entries of a page.
#[derive(Debug)]
pub(super) struct LeafPage<V> {
    /// Repetition and definition level of each entry.
    pub(super) levels: Vec<(u32, u32)>,
    /// Values of the entries with the maximum definition level.
    pub(super) values: Vec<V>,
}

/// Reader of the pages of a column chunk.
pub(super) struct LeafPages<V> {
    pages: Box<dyn PageReader>,
    most: MaxLevels,
    dictionary: Vec<V>,
}

impl<V: PlainValue> LeafPages<V> {
    pub(super) const fn new(pages: Box<dyn PageReader>, most: MaxLevels) -> Self {
        Self { pages, most, dictionary: Vec::new() }
    }

    /// Returns the next page with entries; `None` at the end.
    ///
    /// # Errors
    /// If the page is damaged, or has an unknown encoding.
    pub(super) fn next_page(&mut self) -> Result<Option<LeafPage<V>>, PageError> {
        loop {
            let Some(page) = self.pages.get_next_page().map_err(PageError::Parquet)? else {
                return Ok(None);
            };
            if let Some(page) = self.decoded_page(page)? {
                return Ok(Some(page));
            }
        }
    }

    /// Returns the entries of a page; `None` of a dictionary, which is stored.
    fn decoded_page(&mut self, page: Page) -> Result<Option<LeafPage<V>>, PageError> {
        let n = page.num_values() as usize;
        if n > MOST_VALUES {
            return Err(PageError::Damaged);
        }
        let encoding = page.encoding();
        let entries = match page {
            Page::DictionaryPage { buf, .. } => {
                self.dictionary = V::plain(buf, n).ok_or(PageError::Damaged)?;
                return Ok(None);
            }
            Page::DataPage { buf, .. } => self.first_version(buf, n),
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, .. } => {
                let lengths = (rep_levels_byte_len as usize, def_levels_byte_len as usize);
                self.second_version(&buf, n, lengths)
            }
        };
        let (levels, values) = entries.ok_or(PageError::Damaged)?;
        let there = levels.iter().filter(|(_, defined)| *defined == self.most.defined).count();
        let values = self.decoded(encoding, values, there)?;
        Ok(Some(LeafPage { levels, values }))
    }

    fn decoded(&self, encoding: Encoding, page: Bytes, n: usize) -> Result<Vec<V>, PageError> {
        let values = match encoding {
            Encoding::PLAIN => V::plain(page, n),
            Encoding::RLE => V::runs(&page, n),
            Encoding::DELTA_BINARY_PACKED => V::deltas(&page, n),
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => self.looked_up(&page, n),
            other => return Err(PageError::Encoding(other)),
        };
        values.ok_or(PageError::Damaged)
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
        let (repeated, defined) = (next(self.most.repeated)?, next(self.most.defined)?);
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
        let all = levels(0..repeated, self.most.repeated)?;
        let all = all.into_iter().zip(levels(repeated..end, self.most.defined)?);
        Some((all.collect(), page.slice(end..)))
    }
}

/// Number of bits of levels up to `most`.
const fn width_of(most: u32) -> u32 {
    u32::BITS - most.leading_zeros()
}

/// Returns true if all columns are inside a file of this size. The parquet crate panics otherwise.
pub(super) fn are_inside(metadata: &ParquetMetaData, bytes: u64) -> bool {
    let mut chunks = metadata.row_groups().iter().flat_map(|group| group.columns());
    chunks.all(|chunk| is_inside(chunk, bytes))
}

fn is_inside(chunk: &ColumnChunkMetaData, bytes: u64) -> bool {
    let number = |number: i64| u64::try_from(number).ok();
    let data = number(chunk.data_page_offset());
    let start = chunk.dictionary_page_offset().map_or(data, number);
    let end = start.zip(number(chunk.compressed_size()));
    let end = end.and_then(|(start, size)| start.checked_add(size));
    data.is_some() && end.is_some_and(|end| end <= bytes)
}

/// Returns the stated number of rows.
///
/// # Errors
/// The stated number if a file of this size cannot have as many.
pub(super) fn rows_of(metadata: &ParquetMetaData, bytes: u64) -> Result<u64, u64> {
    let rows = metadata.row_groups().iter().map(|group| group.num_rows().max(0).cast_unsigned());
    let rows = rows.fold(0, u64::saturating_add);
    if rows > bytes.saturating_mul(ROWS_PER_BYTE) { Err(rows) } else { Ok(rows) }
}
