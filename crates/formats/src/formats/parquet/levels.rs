//! Values of a column with their levels.
//!
//! Parquet encodes lists with two levels for each value:
//! - Repetition level: 0 starts a row, 1 continues its list.
//! - Definition level: 0 is an empty list, 1 an element without this value, 2 an element with it.
//!   In a required column, 1 is an element with its value.
//!
//! Source: <https://github.com/apache/parquet-format>, "Nested Encoding".

use parquet::column::writer::ColumnWriter;
use parquet::data_type::DataType;
use parquet::errors::ParquetError;

/// Approximate number of values per batch, such that they and their levels stay in the CPU cache.
const BATCH: usize = 4096;

/// Writes a column of the rows. A required column needs a value in each row.
///
/// # Errors
/// If the column has another type.
pub(super) fn write_rows<T: DataType>(
    writer: &mut ColumnWriter<'_>,
    mut rows: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let writer = T::get_column_writer_mut(writer).ok_or_else(wrong_type)?;
    let optional = writer.get_descriptor().max_def_level() > 0;
    let (mut values, mut defined) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
    loop {
        values.clear();
        defined.clear();
        for value in rows.by_ref().take(BATCH) {
            defined.push(i16::from(value.is_some()));
            values.extend(value);
        }
        if defined.is_empty() {
            return Ok(());
        }
        writer.write_batch(&values, optional.then_some(&defined[..]), None)?;
    }
}

/// Writes a column of the elements of a list. A required column needs a value in each element.
///
/// # Errors
/// If the column has another type.
pub(super) fn write_lists<T: DataType>(
    writer: &mut ColumnWriter<'_>,
    lists: impl Iterator<Item = impl Iterator<Item = Option<T::T>>>,
) -> Result<(), ParquetError> {
    let writer = T::get_column_writer_mut(writer).ok_or_else(wrong_type)?;
    let there = writer.get_descriptor().max_def_level();
    let mut batch = ColumnBatch::default();
    for list in lists {
        let mut repeated = 0;
        for value in list {
            batch.defined.push(if value.is_some() { there } else { 1 });
            batch.repeated.push(repeated);
            batch.values.extend(value);
            repeated = 1;
        }
        if repeated == 0 {
            batch.defined.push(0);
            batch.repeated.push(0);
        }
        if batch.defined.len() >= BATCH {
            writer.write_batch(&batch.values, Some(&batch.defined), Some(&batch.repeated))?;
            batch.clear();
        }
    }
    writer.write_batch(&batch.values, Some(&batch.defined), Some(&batch.repeated))?;
    Ok(())
}

/// Values and their levels.
struct ColumnBatch<V> {
    values: Vec<V>,
    defined: Vec<i16>,
    repeated: Vec<i16>,
}

impl<V> Default for ColumnBatch<V> {
    fn default() -> Self {
        Self { values: Vec::new(), defined: Vec::new(), repeated: Vec::new() }
    }
}

impl<V> ColumnBatch<V> {
    fn clear(&mut self) {
        self.values.clear();
        self.defined.clear();
        self.repeated.clear();
    }
}

fn wrong_type() -> ParquetError {
    ParquetError::General("a column of another type".to_owned())
}
