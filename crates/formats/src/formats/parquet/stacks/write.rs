//! Writer of aggregated stacks, with or without names.

use std::io;

use parquet::column::writer::ColumnWriter;
use parquet::data_type::{BoolType, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedFileWriter;
use rayon::iter::{
    IndexedParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _,
};

use super::super::groups::{append, encode, pass_on, refused};
use super::super::levels::{write_lists, write_rows};
use super::super::names::ConvertedProfile;
use super::super::schema::ParquetTypes;
use super::counts::StackCount;
use super::schema::{FRAMES, ListColumn, NAMED_FRAMES, ROWS, RowColumn, properties, schema};
use crate::render::row_group::{CellId, FrameFunctions, FunctionCell, ranges};
use profile::{Profile, StackId};

/// Names in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StackNames {
    /// Frames have the names that a later look-up cannot find.
    Later,
    /// Frames have their names; if `inlines`, inlined functions are separate frames.
    Now { inlines: bool },
}

/// Writes stacks with the names of the profile as Parquet. If `inlines`, inlined functions are separate frames.
///
/// # Errors
/// Returns the error of writing to `out`, unchanged.
pub fn write_named_stacks(
    profile: &Profile,
    rows: &[StackCount],
    inlines: bool,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    write(profile, rows, StackNames::Now { inlines }, out)
}

/// Writes stacks of a profile.
pub(super) fn write(
    profile: &Profile,
    rows: &[StackCount],
    names: StackNames,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let (inlines, columns) = match names {
        StackNames::Later => (false, FRAMES),
        StackNames::Now { inlines } => (inlines, NAMED_FRAMES),
    };
    let functions = FrameFunctions::new(profile, inlines);
    let texts = ConvertedProfile::new(profile, ParquetTypes::Exact);
    let schema = schema(columns).map_err(refused)?;
    let properties = properties(names != StackNames::Later);
    let mut file =
        SerializedFileWriter::new(Vec::new(), schema.into(), properties.into()).map_err(refused)?;
    let depth = |row: usize| rows.get(row).map_or(0, |row| frames(profile, row).count() as u64);
    for range in ranges(rows.len(), depth) {
        let group = StackGroup::new(profile, rows.get(range).unwrap_or_default(), &functions);
        let of_rows = ROWS.par_iter().enumerate().map(|(place, (column, _))| {
            encode(place, &file, |writer| group.row_column(*column, &texts, writer))
        });
        let mut encoded: Vec<_> = of_rows.collect::<Result<_, _>>().map_err(refused)?;
        let of_frames = columns.par_iter().enumerate().map(|(place, (column, _))| {
            encode(ROWS.len() + place, &file, |writer| group.list_column(*column, &texts, writer))
        });
        let of_frames: Vec<_> = of_frames.collect::<Result<_, _>>().map_err(refused)?;
        encoded.extend(of_frames);
        append(&mut file, encoded).map_err(refused)?;
        pass_on(&mut file, out)?;
    }
    file.finish().map_err(refused)?;
    pass_on(&mut file, out)
}

/// Iterates over the nodes of a stack, innermost first.
fn frames(profile: &Profile, row: &StackCount) -> impl Iterator<Item = StackId> {
    std::iter::successors(row.stack, |&node| {
        profile.stacks.get(node)?.parent.filter(|&parent| parent < node)
    })
}

/// The rows of a row group with their frames.
struct StackGroup<'a> {
    profile: &'a Profile,
    rows: &'a [StackCount],
    functions: &'a FrameFunctions,
    cells: Vec<CellId>,
    /// By row: end of its frames.
    ends: Vec<usize>,
}

impl<'a> StackGroup<'a> {
    fn new(profile: &'a Profile, rows: &'a [StackCount], functions: &'a FrameFunctions) -> Self {
        let (mut cells, mut ends) = (Vec::new(), Vec::with_capacity(rows.len()));
        for row in rows {
            let nodes = frames(profile, row).filter_map(|node| profile.stacks.get(node));
            cells.extend(nodes.flat_map(|node| functions.of_frame(node.frame)));
            ends.push(cells.len());
        }
        Self { profile, rows, functions, cells, ends }
    }

    fn row_column(
        &self,
        column: RowColumn,
        texts: &ConvertedProfile<'_>,
        writer: &mut ColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        let rows = self.rows.iter();
        let text = |id| Some(texts.get(id));
        match column {
            RowColumn::Event => write_rows::<ByteArrayType>(writer, rows.map(|it| text(it.event))),
            RowColumn::Process => {
                write_rows::<ByteArrayType>(writer, rows.map(|it| text(it.process)))
            }
            RowColumn::Comm => write_rows::<ByteArrayType>(writer, rows.map(|it| text(it.comm))),
            RowColumn::Samples => {
                write_rows::<Int64Type>(writer, rows.map(|it| Some(signed(it.samples))))
            }
            RowColumn::Weight => {
                write_rows::<Int64Type>(writer, rows.map(|it| Some(signed(it.weight))))
            }
            RowColumn::End => {
                write_rows::<ByteArrayType>(writer, rows.map(|it| Some(texts.end(it.end))))
            }
            RowColumn::Complete => {
                write_rows::<BoolType>(writer, rows.map(|it| Some(it.end.is_complete())))
            }
        }
    }

    fn list_column(
        &self,
        column: ListColumn,
        texts: &ConvertedProfile<'_>,
        writer: &mut ColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        let get = |id| texts.get(id);
        macro_rules! lists {
            ($type:ty, $value:expr) => {
                write_lists::<$type>(writer, self.lists().map(|list| list.map($value)))
            };
        }
        match column {
            ListColumn::Module => lists!(ByteArrayType, |it| texts.module(it.location.module)),
            ListColumn::BuildId => lists!(ByteArrayType, |it| texts.build_id(it.location.module)),
            ListColumn::Offset => {
                lists!(Int64Type, |it| it.location.offset.map(u64::cast_signed))
            }
            ListColumn::Function => lists!(ByteArrayType, |it| it.function?.function.map(get)),
            ListColumn::FunctionOffset => lists!(Int64Type, |it| {
                it.function.filter(|function| !function.inlined)?;
                it.location.function_offset.map(u64::cast_signed)
            }),
            ListColumn::File => lists!(ByteArrayType, |it| it.function?.file.map(get)),
            ListColumn::Line => {
                lists!(Int32Type, |it| Some(it.function?.line.cast_signed()).filter(|it| *it != 0))
            }
            ListColumn::Inlined => {
                lists!(BoolType, |it| Some(it.function.is_some_and(|function| function.inlined)))
            }
            ListColumn::FoundBy => {
                lists!(ByteArrayType, |it| Some(texts.found_by(it.frame.found_by)))
            }
            ListColumn::Kernel => lists!(BoolType, |it| Some(it.frame.kernel)),
            ListColumn::Whole => lists!(BoolType, |it| Some(it.location.is_whole)),
        }
    }

    /// Iterates over the frames of each row, innermost first.
    fn lists(&self) -> impl Iterator<Item = impl Iterator<Item = FunctionCell<'a>>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let lists = starts.zip(&self.ends).map(|(start, &end)| self.cells.get(start..end));
        lists.map(|list| {
            let cell = |&cell: &CellId| self.functions.cell(self.profile, cell);
            list.unwrap_or_default().iter().filter_map(cell)
        })
    }
}

/// Returns a sum as a signed number; sums above its maximum become the maximum.
fn signed(sum: u64) -> i64 {
    i64::try_from(sum).unwrap_or(i64::MAX)
}
