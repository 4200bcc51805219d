//! Row groups of a Parquet file: columns that are encoded separately and appended in order.

use std::io;

use bytes::Bytes;
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::errors::ParquetError;
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};

/// Encodes a column of a row group.
pub(super) fn encode(
    place: usize,
    file: &SerializedFileWriter<Vec<u8>>,
    fill: impl FnOnce(&mut ColumnWriter<'_>) -> Result<(), ParquetError>,
) -> Result<(Vec<u8>, ColumnCloseResult), ParquetError> {
    let mut bytes = TrackedWrite::new(Vec::new());
    let pages = Box::new(SerializedPageWriter::new(&mut bytes));
    let shape = file.schema_descr().column(place);
    let mut writer = get_column_writer(shape, file.properties().clone(), pages);
    fill(&mut writer)?;
    let close = writer.close()?;
    Ok((bytes.into_inner()?, close))
}

/// Appends the columns of a row group to the file.
pub(super) fn append(
    file: &mut SerializedFileWriter<Vec<u8>>,
    columns: Vec<(Vec<u8>, ColumnCloseResult)>,
) -> Result<(), ParquetError> {
    let mut group = file.next_row_group()?;
    for (bytes, close) in columns {
        group.append_column(&Bytes::from(bytes), close)?;
    }
    group.close().map(|_| ())
}

/// Writes the file writer's buffered bytes to `out`.
pub(super) fn pass_on(
    file: &mut SerializedFileWriter<Vec<u8>>,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    file.flush()?;
    out.write_all(file.inner())?;
    file.inner_mut().clear();
    Ok(())
}

/// Converts the error of columns that do not fit their schema, which no profile causes.
pub(super) fn refused(error: ParquetError) -> io::Error {
    io::Error::other(error)
}
