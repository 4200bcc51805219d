//! Merge of many Parquet files with the same kind of rows into few large ones.
//!
//! ```text
//!   footers of all files --> union of the columns
//!   row groups, 64 at once --> one encoder for each leaf --> row group --> part, part, ...
//! ```
//!
//! At most one merged row group is in memory, encoded. Files are read twice: the columns must be known first.

mod columns;
mod error;
mod group;
mod input;
mod leaf;

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::printer::print_schema;

pub use self::error::MergeError;
pub use self::input::{TableBytes, TableFile};
use super::schema::merged_properties;
use columns::{ColumnUnion, MergedColumns};
use group::{EncodedGroup, GroupLimits, InputGroups, encode_group};
use input::InputFile;

/// Rows of a merged row group: engines divide work by row groups, and read the statistics of each.
const GROUP_ROWS: u64 = 1 << 20;
/// Bytes of a merged row group, which is in memory until it is complete.
const GROUP_BYTES: u64 = 128 << 20;
/// Maximum size of a part. Stores of objects read and repeat files of this size in seconds.
const PART_BYTES: u64 = 512 << 20;
/// Bytes of the footer of a part for each leaf of a row group, at most about.
const FOOTER_BYTES: u64 = 1 << 10;

/// A file that a part is written to.
pub type PartFile = Box<dyn Write + Send>;

/// Result of a merge.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MergedTable {
    /// Number of rows of each written part.
    pub parts: Vec<u64>,
    /// Number of rows of each file, in their order.
    pub inputs: Vec<u64>,
    /// The columns, each in Parquet's schema language on one line.
    pub columns: Vec<String>,
}

/// Merges the rows of files in their order, into parts that `create` opens.
///
/// Columns are those of all files by name, with null where a file has none, then the constants of the files as text.
/// Row groups have about 1,048,576 rows or 128 MiB, parts at most 512 MiB. Without rows, one part has the columns.
///
/// # Errors
/// If a file is damaged, has an unsupported type, or columns or rows of another type than another one; if a part cannot
/// be written. Parts can be incomplete then.
pub fn merge_tables(
    files: &[TableFile],
    open: &dyn Fn(&Path) -> io::Result<TableBytes>,
    create: &mut dyn FnMut() -> io::Result<PartFile>,
) -> Result<MergedTable, MergeError> {
    let limits = GroupLimits { rows: GROUP_ROWS, bytes: GROUP_BYTES };
    merge_with(files, open, create, limits, PART_BYTES)
}

fn merge_with(
    files: &[TableFile],
    open: &dyn Fn(&Path) -> io::Result<TableBytes>,
    create: &mut dyn FnMut() -> io::Result<PartFile>,
    limits: GroupLimits,
    part_bytes: u64,
) -> Result<MergedTable, MergeError> {
    let (mut union, mut inputs) = (ColumnUnion::default(), Vec::with_capacity(files.len()));
    for file in files {
        let input = InputFile::open(file, open)?;
        union.add(&input)?;
        inputs.push(input.rows);
    }
    let columns = union.finish()?;
    let mut groups = InputGroups::new(files, open, &columns);
    let keys = columns.keys.iter();
    let keys = keys.map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone()));
    let mut parts = Parts {
        columns: &columns,
        properties: Arc::new(merged_properties(keys.collect(), &columns.schema)),
        create,
        most: part_bytes,
        open: None,
        rows: Vec::new(),
    };
    while let Some(group) = encode_group(&columns, &parts.properties, limits, &mut groups)? {
        parts.add(group)?;
    }
    let parts = parts.finish()?;
    Ok(MergedTable { parts, inputs, columns: lines_of(&columns) })
}

/// Returns each column on one line.
fn lines_of(columns: &MergedColumns) -> Vec<String> {
    let line = |node: &Arc<parquet::schema::types::Type>| {
        let mut text = Vec::new();
        print_schema(&mut text, node);
        let text = String::from_utf8_lossy(&text).into_owned();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    columns.schema.root_schema().get_fields().iter().map(line).collect()
}

/// Parts that are written one after the other.
struct Parts<'a> {
    columns: &'a MergedColumns,
    properties: WriterPropertiesPtr,
    create: &'a mut dyn FnMut() -> io::Result<PartFile>,
    /// Maximum size of a part, in bytes.
    most: u64,
    /// The part that is written, and its size with the footer.
    open: Option<(SerializedFileWriter<PartFile>, u64)>,
    /// By part: number of rows.
    rows: Vec<u64>,
}

impl Parts<'_> {
    fn add(&mut self, group: EncodedGroup) -> Result<(), MergeError> {
        let bytes = group.bytes() + FOOTER_BYTES * group.columns.len() as u64;
        if self.open.as_ref().is_some_and(|(_, size)| size + bytes > self.most) {
            self.close()?;
        }
        let (mut file, size) = match self.open.take() {
            Some(open) => open,
            None => self.next_part()?,
        };
        let mut out = file.next_row_group().map_err(MergeError::output)?;
        for (bytes, close) in group.columns {
            out.append_column(&Bytes::from(bytes), close).map_err(MergeError::output)?;
        }
        out.close().map_err(MergeError::output)?;
        if let Some(rows) = self.rows.last_mut() {
            *rows += group.rows;
        }
        self.open = Some((file, size + bytes));
        Ok(())
    }

    fn next_part(&mut self) -> Result<(SerializedFileWriter<PartFile>, u64), MergeError> {
        let file = (self.create)().map_err(MergeError::Output)?;
        let schema = self.columns.schema.root_schema_ptr();
        let properties = Arc::clone(&self.properties);
        let file = SerializedFileWriter::new(file, schema, properties);
        self.rows.push(0);
        Ok((file.map_err(MergeError::output)?, FOOTER_BYTES))
    }

    fn close(&mut self) -> Result<(), MergeError> {
        let Some((mut file, _)) = self.open.take() else { return Ok(()) };
        file.finish().map_err(MergeError::output)?;
        file.flush().map_err(MergeError::Output)
    }

    fn finish(mut self) -> Result<Vec<u64>, MergeError> {
        if self.rows.is_empty() {
            self.open = Some(self.next_part()?);
        }
        self.close()?;
        Ok(self.rows)
    }
}

#[cfg(test)]
mod tests;
