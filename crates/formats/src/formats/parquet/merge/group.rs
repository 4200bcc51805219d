//! Row groups of merged files: rows of many row groups of the input.

use std::io;
use std::path::Path;
use std::sync::Arc;

use parquet::column::writer::{ColumnCloseResult, get_column_writer};
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::reader::FileReader as _;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use rayon::iter::{
    IntoParallelIterator as _, IntoParallelRefMutIterator as _, ParallelIterator as _,
};

use super::columns::MergedColumns;
use super::error::MergeError;
use super::input::{InputFile, InputGroup, TableBytes, TableFile};
use super::leaf::Leaf;

/// Approximate limits of a row group.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupLimits {
    pub(super) rows: u64,
    pub(super) bytes: u64,
}

/// Maximum number of row groups that are open at once, and that are divided among threads by column.
const BATCH_GROUPS: usize = 64;
/// Minimum number of rows after which no further row group is opened at once.
const BATCH_ROWS: u64 = 1 << 16;
/// Number of entries of a dictionary-encoded column per byte. Encoded pages are counted by entries until the
/// dictionary is written.
const ENTRIES_PER_BYTE: u64 = 2;

/// Files to merge, read one after the other.
pub(super) struct InputGroups<'a> {
    files: std::slice::Iter<'a, TableFile>,
    open: &'a dyn Fn(&Path) -> io::Result<TableBytes>,
    columns: &'a MergedColumns,
    current: Option<OpenInput>,
}

/// The file whose row groups are read.
struct OpenInput {
    input: Arc<InputFile>,
    /// Place in the file of each merged leaf; `None` of an absent column.
    places: Arc<Vec<Option<usize>>>,
    /// Next row group.
    group: usize,
}

impl<'a> InputGroups<'a> {
    pub(super) fn new(
        files: &'a [TableFile],
        open: &'a dyn Fn(&Path) -> io::Result<TableBytes>,
        columns: &'a MergedColumns,
    ) -> Self {
        Self { files: files.iter(), open, columns, current: None }
    }

    /// Returns the next row groups with rows; none at the end.
    fn next_batch(&mut self) -> Result<Vec<InputGroup>, MergeError> {
        let (mut batch, mut rows) = (Vec::new(), 0);
        while batch.len() < BATCH_GROUPS && rows < BATCH_ROWS {
            let Some(OpenInput { input, places, group }) = self.current.as_mut() else {
                let Some(file) = self.files.next() else { break };
                let input = InputFile::open(file, self.open)?;
                let places = Arc::new(self.columns.places(&input)?);
                self.current = Some(OpenInput { input: Arc::new(input), places, group: 0 });
                continue;
            };
            let Some(metadata) = input.reader.metadata().row_groups().get(*group) else {
                self.current = None;
                continue;
            };
            let n = u64::try_from(metadata.num_rows()).unwrap_or(0);
            if n > 0 {
                let (input, places) = (Arc::clone(input), Arc::clone(places));
                batch.push(InputGroup { input, group: *group, rows: n, places });
                rows += n;
            }
            *group += 1;
        }
        Ok(batch)
    }
}

/// A row group with encoded columns.
pub(super) struct EncodedGroup {
    pub(super) rows: u64,
    pub(super) columns: Vec<(Vec<u8>, ColumnCloseResult)>,
}

impl EncodedGroup {
    /// Returns the size of the encoded columns.
    pub(super) fn bytes(&self) -> u64 {
        self.columns.iter().map(|(bytes, _)| bytes.len() as u64).sum()
    }
}

/// Encodes rows up to the limits. Returns `None` without further rows.
///
/// # Errors
/// If a file is damaged.
pub(super) fn encode_group(
    columns: &MergedColumns,
    properties: &WriterPropertiesPtr,
    limits: GroupLimits,
    input: &mut InputGroups<'_>,
) -> Result<Option<EncodedGroup>, MergeError> {
    let shapes = columns.schema.columns();
    let mut sinks: Vec<_> = shapes.iter().map(|_| TrackedWrite::new(Vec::new())).collect();
    let with_sinks = sinks.iter_mut().zip(shapes).enumerate();
    let mut leaves: Vec<Leaf<'_>> = with_sinks
        .map(|(place, (sink, shape))| {
            let pages = Box::new(SerializedPageWriter::new(sink));
            let writer = get_column_writer(Arc::clone(shape), Arc::clone(properties), pages);
            Leaf { writer, place, entries: 0 }
        })
        .collect();
    let (mut rows, mut bytes) = (0, 0);
    while rows < limits.rows && bytes < limits.bytes {
        let batch = input.next_batch()?;
        if batch.is_empty() {
            break;
        }
        rows += batch.iter().map(|group| group.rows).sum::<u64>();
        let size = |leaf: &mut Leaf<'_>| {
            let written = leaf.add(&batch, columns)?;
            Ok(if written == 0 { leaf.entries / ENTRIES_PER_BYTE } else { written })
        };
        // The first error does not depend on threads.
        let sizes: Vec<Result<u64, MergeError>> = leaves.par_iter_mut().map(size).collect();
        bytes = sizes.into_iter().sum::<Result<u64, MergeError>>()?;
    }
    let closed: Vec<_> = leaves.into_par_iter().map(Leaf::close).collect();
    if rows == 0 {
        return Ok(None);
    }
    let mut encoded = Vec::with_capacity(closed.len());
    for (sink, close) in sinks.into_iter().zip(closed) {
        encoded.push((sink.into_inner().map_err(MergeError::Encode)?, close?));
    }
    Ok(Some(EncodedGroup { rows, columns: encoded }))
}
