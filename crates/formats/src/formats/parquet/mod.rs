//! Parquet: one row per sample with its frames as a list, for programs that read tables (`DuckDB`, polars, pandas,
//! Spark).
//!
//! ```text
//!   samples --- row group --- row group --- ...     each: samples with some hundred thousand frames in total
//!                  |
//!               columns, each encoded and compressed separately, by all threads; then written in order
//! ```
//!
//! At most one row group is in memory. Names are dictionary-encoded: a column of a row group has each distinct one
//! once.
//!
//! Source: <https://github.com/apache/parquet-format>.

mod cells;
mod decode;
mod fields;
mod groups;
mod levels;
mod merge;
mod names;
mod pages;
mod plain;
mod schema;
mod stacks;

use std::io;

use parquet::column::writer::ColumnWriter;
use parquet::file::writer::SerializedFileWriter;
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::facts::{BYTES, FormatFacts};
use crate::printer::Printer;
use crate::render::row_group::{FrameFunctions, RowGroup, ranges};
use groups::{append, encode, pass_on, refused};
use names::ConvertedProfile;
pub use plain::{ModuleFrames, PlainRows, RowStatistics};
use profile::query::StackWalker;
use profile::{Profile, RowId as _, SampleId};
use schema::{ParquetColumn, ParquetTypes};

pub use merge::{MergeError, MergedTable, PartFile, TableBytes, TableFile, merge_tables};
pub use stacks::{
    StackCount, StackReader, StacksError, StacksFile, StoredStacks, write_named_stacks,
};

/// Prints a Parquet file.
#[derive(Debug, Clone, Copy)]
pub struct Parquet {
    /// Whether inlined functions are separate frames.
    pub inlines: bool,
}

impl Parquet {
    /// Name, file name endings and weights of the format.
    pub(crate) const FACTS: FormatFacts = FormatFacts::binary(
        "parquet",
        "a table for data tools, one row per sample",
        &[".parquet"],
        BYTES,
    );
}

impl Printer for Parquet {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        write_rows(profile, self.inlines, ParquetTypes::Exact, out, |_| ())
    }
}

/// Writes the rows of a profile as a file, and passes each row group to `count` before it is encoded.
fn write_rows(
    profile: &Profile,
    inlines: bool,
    types: ParquetTypes,
    out: &mut dyn io::Write,
    mut count: impl FnMut(&RowGroup<'_>),
) -> io::Result<()> {
    let walker = StackWalker::new(profile);
    let functions = FrameFunctions::new(profile, inlines);
    let names = ConvertedProfile::new(profile, types);
    let schema = types.schema().and_then(|schema| fields::with_fields(schema, profile, types));
    let schema = schema.map_err(refused)?;
    let properties = schema::properties(profile, types).into();
    // The Parquet writer's errors would hide those of `out`, so it writes to memory, which is then passed on.
    let mut file =
        SerializedFileWriter::new(Vec::new(), schema.into(), properties).map_err(refused)?;
    for range in ranges(profile.samples.len(), |sample| walker.depth(SampleId::from_index(sample)))
    {
        let samples = profile.samples.as_slice().get(range.clone()).unwrap_or_default();
        let group = RowGroup::new(samples, &walker, &functions);
        count(&group);
        let columns = ParquetColumn::ALL.par_iter().map(|&column| {
            encode(column as usize, &file, |writer| cells::fill(column, &group, &names, writer))
        });
        let mut columns: Vec<_> = columns.collect::<Result<_, _>>().map_err(refused)?;
        for (place, column) in (ParquetColumn::ALL.len()..).zip(profile.fields.columns()) {
            let range = range.clone();
            let fill = |writer: &mut ColumnWriter<'_>| fields::fill(column, range, profile, writer);
            columns.push(encode(place, &file, fill).map_err(refused)?);
        }
        append(&mut file, columns).map_err(refused)?;
        pass_on(&mut file, out)?;
    }
    file.finish().map_err(refused)?;
    pass_on(&mut file, out)
}
