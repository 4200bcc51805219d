//! The cells of each column of a row group.

use parquet::column::writer::ColumnWriter;
use parquet::data_type::{BoolType, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;

use super::levels::{write_lists, write_rows};
use super::names::ConvertedProfile;
use super::schema::ParquetColumn;
use crate::render::row_group::{CellId, FrameCell, RowGroup};
use address::Avma;
use profile::SampleRow;

type CellResult = Result<(), ParquetError>;

/// Writes the cells of a column.
pub(super) fn fill(
    column: ParquetColumn,
    group: &RowGroup<'_>,
    names: &ConvertedProfile<'_>,
    writer: &mut ColumnWriter<'_>,
) -> CellResult {
    match column {
        ParquetColumn::Addr
        | ParquetColumn::Module
        | ParquetColumn::BuildId
        | ParquetColumn::Svma
        | ParquetColumn::Offset
        | ParquetColumn::Function
        | ParquetColumn::FunctionOffset
        | ParquetColumn::File
        | ParquetColumn::Line
        | ParquetColumn::Inlined
        | ParquetColumn::FoundBy
        | ParquetColumn::Kernel => FrameColumn { group, names, writer }.fill(column),
        _ => fill_samples(column, group.samples, names, writer),
    }
}

fn fill_samples(
    column: ParquetColumn,
    samples: &[SampleRow],
    names: &ConvertedProfile<'_>,
    writer: &mut ColumnWriter<'_>,
) -> CellResult {
    let thread = |sample: &SampleRow| names.profile.threads.get(sample.thread);
    match column {
        ParquetColumn::TimeNs => {
            each_sample::<Int64Type>(writer, samples, |one| Some(one.time()?.0 as i64))
        }
        // A task that had already exited has -1.
        ParquetColumn::Pid => each_sample::<Int32Type>(writer, samples, |one| {
            Some(thread(one).map_or(-1, |thread| thread.pid.0))
        }),
        ParquetColumn::Tid => each_sample::<Int32Type>(writer, samples, |one| {
            Some(thread(one).map_or(-1, |thread| thread.tid.0))
        }),
        ParquetColumn::Comm => each_sample::<ByteArrayType>(writer, samples, |one| {
            Some(names.always(thread(one).map(|thread| thread.comm)))
        }),
        ParquetColumn::Process => each_sample::<ByteArrayType>(writer, samples, |one| {
            Some(names.always(thread(one).map(|thread| thread.process)))
        }),
        ParquetColumn::Cpu if is_wide(writer) => {
            each_sample::<Int64Type>(writer, samples, |one| one.cpu().map(i64::from))
        }
        ParquetColumn::Cpu => {
            each_sample::<Int32Type>(writer, samples, |one| Some(one.cpu()? as i32))
        }
        ParquetColumn::Event => each_sample::<ByteArrayType>(writer, samples, |one| {
            let event = names.profile.events.get(one.event);
            Some(names.always(event.map(|event| event.name)))
        }),
        ParquetColumn::Period => {
            each_sample::<Int64Type>(writer, samples, |one| Some(one.period()? as i64))
        }
        ParquetColumn::Weight => {
            each_sample::<Int64Type>(writer, samples, |one| Some(one.period().unwrap_or(1) as i64))
        }
        ParquetColumn::End => {
            each_sample::<ByteArrayType>(writer, samples, |one| Some(names.end(one.end)))
        }
        ParquetColumn::Cgroup => each_sample::<ByteArrayType>(writer, samples, |one| {
            Some(names.get(thread(one)?.cgroup?))
        }),
        ParquetColumn::Recording => {
            each_sample::<ByteArrayType>(writer, samples, |_| names.recording.clone())
        }
        ParquetColumn::Host => each_sample::<ByteArrayType>(writer, samples, |_| {
            Some(names.get(names.profile.recording.hostname?))
        }),
        ParquetColumn::ProgramBuildId => each_sample::<ByteArrayType>(writer, samples, |one| {
            names.build_id(names.programs.of(thread(one)?.process_key()))
        }),
        _ => each_sample::<BoolType>(writer, samples, |one| Some(one.end.is_complete())),
    }
}

/// Returns true if a column of numbers has 64 bits.
const fn is_wide(writer: &ColumnWriter<'_>) -> bool {
    matches!(writer, ColumnWriter::Int64ColumnWriter(_))
}

/// Writes a column of the samples. `cell` returns the value of each sample; it must return one if the column is
/// required.
fn each_sample<T: DataType>(
    writer: &mut ColumnWriter<'_>,
    samples: &[SampleRow],
    cell: impl Fn(&SampleRow) -> Option<T::T>,
) -> CellResult {
    write_rows::<T>(writer, samples.iter().map(cell))
}

/// A column of the frames.
struct FrameColumn<'f, 'a, 'w> {
    group: &'f RowGroup<'a>,
    names: &'f ConvertedProfile<'a>,
    writer: &'f mut ColumnWriter<'w>,
}

impl<'a> FrameColumn<'_, 'a, '_> {
    fn fill(self, column: ParquetColumn) -> CellResult {
        let names = self.names;
        match column {
            ParquetColumn::Addr => self.each::<Int64Type>(|cell| Some(cell.addr.0 as i64)),
            ParquetColumn::Module => {
                self.each::<ByteArrayType>(|cell| names.module(cell.location.module))
            }
            ParquetColumn::BuildId => {
                self.each::<ByteArrayType>(|cell| names.build_id(cell.location.module))
            }
            ParquetColumn::Svma => self.each::<Int64Type>(|cell| {
                names.is_elf(cell.location.module).then_some(cell.location.relative as i64)
            }),
            ParquetColumn::Offset => {
                self.each::<Int64Type>(|cell| Some(cell.location.offset? as i64))
            }
            ParquetColumn::Function => {
                self.each::<ByteArrayType>(|cell| Some(names.get(cell.function?.function?)))
            }
            ParquetColumn::FunctionOffset => self.each::<Int64Type>(|cell| {
                cell.function.filter(|function| !function.inlined)?;
                Some(cell.location.function_offset? as i64)
            }),
            ParquetColumn::File => {
                self.each::<ByteArrayType>(|cell| Some(names.get(cell.function?.file?)))
            }
            ParquetColumn::Line if is_wide(self.writer) => self.each::<Int64Type>(|cell| {
                Some(i64::from(cell.function?.line)).filter(|&line| line != 0)
            }),
            ParquetColumn::Line => self.each::<Int32Type>(|cell| {
                Some(cell.function?.line as i32).filter(|&line| line != 0)
            }),
            ParquetColumn::Inlined => self.each::<BoolType>(|cell| {
                Some(cell.function.is_some_and(|function| function.inlined))
            }),
            ParquetColumn::FoundBy => {
                self.each::<ByteArrayType>(|cell| Some(names.found_by(cell.frame.found_by)))
            }
            _ => self.each::<BoolType>(|cell| Some(cell.frame.kernel)),
        }
    }

    /// Writes the column. `value` returns the value of each frame; it must return one if the column is required.
    fn each<T: DataType>(self, value: impl Fn(FrameCell<'a>) -> Option<T::T>) -> CellResult {
        let Self { group, names, writer } = self;
        let cell = |&(cell, addr): &(CellId, Avma)| group.cell(names.profile, cell, addr);
        write_lists::<T>(
            writer,
            group.stacks().map(|stack| stack.iter().filter_map(cell).map(&value)),
        )
    }
}
