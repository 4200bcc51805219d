//! One leaf of a merged row group, which is decoded from the files and encoded again.

use bytes::Bytes;
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, ColumnWriterImpl};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::file::reader::FileReader as _;

use super::super::decode::PlainValue;
use super::super::pages::{LeafPages, MaxLevels, PageError};
use super::columns::MergedColumns;
use super::error::MergeError;
use super::input::{InputFile, InputGroup};

/// Number of equal values that are written at once.
const BATCH: usize = 4096;

/// A leaf of the row group that is written.
pub(super) struct Leaf<'a> {
    pub(super) writer: ColumnWriter<'a>,
    /// Place in the merged schema.
    pub(super) place: usize,
    /// Number of entries.
    pub(super) entries: u64,
}

impl Leaf<'_> {
    /// Adds the rows of row groups. Returns the number of bytes that were written so far.
    ///
    /// # Errors
    /// If a column is damaged.
    pub(super) fn add(
        &mut self,
        groups: &[InputGroup],
        columns: &MergedColumns,
    ) -> Result<u64, MergeError> {
        let mut written = 0;
        for group in groups {
            written = match &mut self.writer {
                ColumnWriter::BoolColumnWriter(writer) => {
                    let copy = Copy::<bool, BoolType> { writer, group, convert: |flag| flag };
                    copy.add(self.place, columns, &mut self.entries)?
                }
                ColumnWriter::Int32ColumnWriter(writer) => {
                    let copy = Copy::<i32, Int32Type> { writer, group, convert: |number| number };
                    copy.add(self.place, columns, &mut self.entries)?
                }
                ColumnWriter::Int64ColumnWriter(writer) => {
                    let copy = Copy::<i64, Int64Type> { writer, group, convert: |number| number };
                    copy.add(self.place, columns, &mut self.entries)?
                }
                ColumnWriter::ByteArrayColumnWriter(writer) => {
                    let convert = |text: Bytes| ByteArray::from(text);
                    let copy = Copy::<Bytes, ByteArrayType> { writer, group, convert };
                    copy.add(self.place, columns, &mut self.entries)?
                }
                // Files with other types are rejected before.
                _ => return Err(MergeError::Changed { path: group.input.file.path.clone() }),
            };
        }
        Ok(written)
    }

    /// Ends the leaf.
    pub(super) fn close(self) -> Result<ColumnCloseResult, MergeError> {
        self.writer.close().map_err(MergeError::Encode)
    }
}

/// Copy of a leaf of one row group.
struct Copy<'a, 'w, V, T: DataType> {
    writer: &'a mut ColumnWriterImpl<'w, T>,
    group: &'a InputGroup,
    convert: fn(V) -> T::T,
}

/// Entries that are not written yet.
struct Pending<T> {
    repeated: Vec<i16>,
    defined: Vec<i16>,
    values: Vec<T>,
}

impl<V: PlainValue, T: DataType> Copy<'_, '_, V, T> {
    /// Adds the rows. Returns the number of bytes that the leaf has written so far.
    fn add(
        self,
        leaf: usize,
        columns: &MergedColumns,
        entries: &mut u64,
    ) -> Result<u64, MergeError> {
        let group = self.group;
        match group.places.get(leaf).copied().flatten() {
            Some(place) => self.copy(place, entries),
            None => {
                *entries += group.rows;
                self.repeat(columns.constant(leaf, &group.input))
            }
        }
    }

    /// Writes one text, or null, in each row.
    fn repeat(self, text: Option<&str>) -> Result<u64, MergeError> {
        let text = text.map(|text| Bytes::copy_from_slice(text.as_bytes()));
        let value = text.and_then(|text| V::plain(plain_text(&text), 1)?.pop());
        let (defined, count) = (i16::from(value.is_some()), usize::from(value.is_some()) * BATCH);
        let values: Vec<T::T> = value.into_iter().map(self.convert).collect();
        let values: Vec<T::T> = values.iter().cycle().take(count).cloned().collect();
        let is_list = self.writer.get_descriptor().max_rep_level() > 0;
        let (repeated, defined) = ([0; BATCH], [defined; BATCH]);
        let mut left = self.group.rows;
        while left > 0 {
            let n = usize::try_from(left).unwrap_or(BATCH).min(BATCH);
            let values = values.get(..n.min(values.len())).unwrap_or_default();
            let repeated = if is_list { repeated.get(..n) } else { None };
            let written = self.writer.write_batch(values, defined.get(..n), repeated);
            written.map_err(MergeError::Encode)?;
            left -= n as u64;
        }
        Ok(self.writer.get_total_bytes_written())
    }

    /// Copies the leaf at a place of the file.
    fn copy(self, place: usize, entries: &mut u64) -> Result<u64, MergeError> {
        let input = &*self.group.input;
        let path = &input.file.path;
        let changed = || MergeError::Changed { path: path.clone() };
        let column = input.schema().columns().get(place).ok_or_else(changed)?;
        let most = |level: i16| u32::try_from(level).unwrap_or(0);
        let (defined, repeated) = (column.max_def_level(), column.max_rep_level());
        let most = MaxLevels { defined: most(defined), repeated: most(repeated) };
        let shift = self.writer.get_descriptor().max_def_level() - defined;
        let reader = input.reader.get_row_group(self.group.group);
        let pages = reader.and_then(|reader| reader.get_column_page_reader(place));
        let mut pages = LeafPages::new(pages.map_err(MergeError::parquet(path))?, most);
        let damaged = || MergeError::Damaged { path: path.clone(), column: column.path().string() };
        let mut pending = Pending { repeated: vec![], defined: vec![], values: vec![] };
        let mut rows = 0;
        loop {
            let page = pages.next_page().map_err(|error| failure(error, input, place))?;
            let Some(page) = page else { break };
            for &(repeated, defined) in &page.levels {
                if repeated > most.repeated || defined > most.defined {
                    return Err(damaged());
                }
                rows += u64::from(repeated == 0);
                pending.repeated.push(repeated as i16);
                pending.defined.push(defined as i16 + shift);
            }
            if rows > self.group.rows || pending.repeated.first().is_some_and(|&first| first != 0) {
                return Err(damaged());
            }
            *entries += page.levels.len() as u64;
            pending.values.extend(page.values.into_iter().map(self.convert));
            pending.write(self.writer, false)?;
        }
        pending.write(self.writer, true)?;
        if rows != self.group.rows {
            return Err(damaged());
        }
        Ok(self.writer.get_total_bytes_written())
    }
}

impl<T: Clone> Pending<T> {
    /// Writes the entries of whole rows. The last row can continue on the next page, unless `is_last`.
    fn write<D: DataType<T = T>>(
        &mut self,
        writer: &mut ColumnWriterImpl<'_, D>,
        is_last: bool,
    ) -> Result<(), MergeError> {
        let shape = writer.get_descriptor();
        let (is_list, most) = (shape.max_rep_level() > 0, shape.max_def_level());
        let last_row = self.repeated.iter().rposition(|&level| level == 0).unwrap_or(0);
        let end = if is_list && !is_last { last_row } else { self.repeated.len() };
        if end == 0 {
            return Ok(());
        }
        let defined = self.defined.get(..end).unwrap_or_default();
        let count = defined.iter().filter(|&&level| level == most).count();
        let values = self.values.get(..count).unwrap_or_default();
        let written = writer.write_batch(
            values,
            (most > 0).then_some(defined),
            if is_list { self.repeated.get(..end) } else { None },
        );
        written.map_err(MergeError::Encode)?;
        self.repeated.drain(..end);
        self.defined.drain(..end);
        self.values.drain(..count);
        Ok(())
    }
}

/// Returns a text as a plain page has it.
fn plain_text(text: &Bytes) -> Bytes {
    let length = u32::try_from(text.len()).unwrap_or(0);
    [&length.to_le_bytes()[..], text].concat().into()
}

fn failure(error: PageError, input: &InputFile, place: usize) -> MergeError {
    let path = input.file.path.clone();
    let column = input.schema().columns().get(place);
    let column = column.map(|column| column.path().string()).unwrap_or_default();
    match error {
        PageError::Parquet(source) => MergeError::Parquet { path, source },
        PageError::Damaged => MergeError::Damaged { path, column },
        PageError::Encoding(found) => {
            MergeError::Unsupported { path, column, found: format!("encoded as {found}") }
        }
    }
}
