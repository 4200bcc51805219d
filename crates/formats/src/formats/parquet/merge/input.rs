//! Input files: their footers, checked, and their row groups.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::Type as PhysicalType;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::schema::types::SchemaDescriptor;

use super::super::pages::{are_inside, rows_of};
use super::error::MergeError;

/// A file to merge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableFile {
    /// The file.
    pub path: PathBuf,
    /// Columns with one value in all rows, which the path states.
    pub constants: Vec<(String, String)>,
}

/// Contents of a file.
pub type TableBytes = Box<dyn AsRef<[u8]> + Send>;

/// An owner of bytes without its type.
struct Owner(TableBytes);

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

/// An open file.
pub(super) struct InputFile {
    pub(super) file: TableFile,
    pub(super) reader: SerializedFileReader<Bytes>,
    /// Number of rows.
    pub(super) rows: u64,
}

impl InputFile {
    /// Opens a file and checks its footer.
    pub(super) fn open(
        file: &TableFile,
        open: &dyn Fn(&Path) -> io::Result<TableBytes>,
    ) -> Result<Self, MergeError> {
        let path = &file.path;
        let bytes = open(path).map_err(|source| MergeError::Open { path: path.clone(), source })?;
        let bytes = Bytes::from_owner(Owner(bytes));
        let size = bytes.len() as u64;
        let reader = SerializedFileReader::new(bytes).map_err(MergeError::parquet(path))?;
        let metadata = reader.metadata();
        let damaged = || MergeError::Footer { path: path.clone() };
        if !are_inside(metadata, size) || metadata.row_groups().iter().any(|it| it.num_rows() < 0) {
            return Err(damaged());
        }
        let rows = rows_of(metadata, size).map_err(|_| damaged())?;
        let input = Self { file: file.clone(), reader, rows };
        input.check_types()?;
        Ok(input)
    }

    /// Returns the columns.
    pub(super) fn schema(&self) -> &SchemaDescriptor {
        self.reader.metadata().file_metadata().schema_descr()
    }

    /// Returns the value of a key of the file.
    pub(super) fn key(&self, key: &str) -> Option<&str> {
        let pairs = self.reader.metadata().file_metadata().key_value_metadata()?;
        pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
    }

    fn check_types(&self) -> Result<(), MergeError> {
        let is_known = |kind| {
            matches!(
                kind,
                PhysicalType::BOOLEAN
                    | PhysicalType::INT32
                    | PhysicalType::INT64
                    | PhysicalType::BYTE_ARRAY
            )
        };
        let columns = self.schema().columns();
        let Some(column) = columns.iter().find(|column| !is_known(column.physical_type())) else {
            return Ok(());
        };
        Err(MergeError::Unsupported {
            path: self.file.path.clone(),
            column: column.path().string(),
            found: column.physical_type().to_string(),
        })
    }

    /// Returns the places of the leaves of each column.
    pub(super) fn leaves(&self) -> Vec<Range<usize>> {
        leaves(self.schema())
    }
}

/// Returns the places of the leaves of each column of a schema.
pub(super) fn leaves(schema: &SchemaDescriptor) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for leaf in 0..schema.num_columns() {
        let column = schema.get_column_root_idx(leaf);
        // Groups without columns have no leaf.
        ranges.resize_with(ranges.len().max(column), || leaf..leaf);
        match ranges.get_mut(column) {
            Some(range) => range.end = leaf + 1,
            None => ranges.push(leaf..leaf + 1),
        }
    }
    ranges
}

/// A row group of an open file.
pub(super) struct InputGroup {
    pub(super) input: Arc<InputFile>,
    /// Place in the file.
    pub(super) group: usize,
    /// Number of rows.
    pub(super) rows: u64,
    /// Place in the file of each merged leaf; `None` of an absent column.
    pub(super) places: Arc<Vec<Option<usize>>>,
}
