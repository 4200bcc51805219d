//! The cells of each column of a row group.
//!
//! Parquet tells lists by two numbers beside each value: a repetition level (0 begins a sample, 1 goes on with its list)
//! and a definition level (0 stands for a list without frames, 1 for a frame without this value, 2 for one with it; of a
//! column whose values are always there, 1 is the last).
//!
//! Source: <https://github.com/apache/parquet-format>, "Nested Encoding".

use parquet::column::writer::ColumnWriter;
use parquet::data_type::{BoolType, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;

use super::group::{Cell, Group};
use super::names::Names;
use super::schema::Column;
use profile::SampleRow;

/// Values that are handed over at once, about: they and their levels stay in the cache.
const BATCH: usize = 4096;

type Done = Result<(), ParquetError>;

/// Writes the cells of a column.
pub(super) fn fill(
    column: Column,
    group: &Group<'_>,
    names: &Names<'_>,
    writer: &mut ColumnWriter<'_>,
) -> Done {
    match column {
        Column::Addr
        | Column::Module
        | Column::BuildId
        | Column::Svma
        | Column::Offset
        | Column::Function
        | Column::FunctionOffset
        | Column::File
        | Column::Line
        | Column::Inlined
        | Column::FoundBy
        | Column::Kernel => Frames { group, names, writer }.fill(column),
        _ => fill_samples(column, group.samples, names, writer),
    }
}

fn fill_samples(
    column: Column,
    samples: &[SampleRow],
    names: &Names<'_>,
    writer: &mut ColumnWriter<'_>,
) -> Done {
    let thread = |sample: &SampleRow| names.profile.threads.get(sample.thread as usize);
    match column {
        Column::TimeNs => each_sample::<Int64Type>(writer, samples, |one| Some(one.time?.0 as i64)),
        // -1 is what a task has that had already exited.
        Column::Pid => each_sample::<Int32Type>(writer, samples, |one| {
            Some(thread(one).map_or(-1, |thread| thread.pid.0))
        }),
        Column::Tid => each_sample::<Int32Type>(writer, samples, |one| {
            Some(thread(one).map_or(-1, |thread| thread.tid.0))
        }),
        Column::Comm => each_sample::<ByteArrayType>(writer, samples, |one| {
            Some(names.always(thread(one).map(|thread| thread.comm)))
        }),
        Column::Cpu => each_sample::<Int32Type>(writer, samples, |one| Some(one.cpu? as i32)),
        Column::Event => each_sample::<ByteArrayType>(writer, samples, |one| {
            let event = names.profile.events.get(usize::from(one.event));
            Some(names.always(event.map(|event| event.name)))
        }),
        Column::Period => each_sample::<Int64Type>(writer, samples, |one| Some(one.period? as i64)),
        Column::Weight => {
            each_sample::<Int64Type>(writer, samples, |one| Some(one.period.unwrap_or(1) as i64))
        }
        Column::End => {
            each_sample::<ByteArrayType>(writer, samples, |one| Some(names.end(one.end)))
        }
        _ => each_sample::<BoolType>(writer, samples, |one| Some(one.end.is_complete())),
    }
}

/// Writes a column of the samples: `cell` gives the value of each; of a column that is always there, always one.
fn each_sample<T: DataType>(
    writer: &mut ColumnWriter<'_>,
    samples: &[SampleRow],
    cell: impl Fn(&SampleRow) -> Option<T::T>,
) -> Done {
    let writer = T::get_column_writer_mut(writer).ok_or_else(wrong_type)?;
    let (mut values, mut defined) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
    for batch in samples.chunks(BATCH) {
        values.clear();
        defined.clear();
        for sample in batch {
            let value = cell(sample);
            defined.push(i16::from(value.is_some()));
            values.extend(value);
        }
        let optional = writer.get_descriptor().max_def_level() > 0;
        writer.write_batch(&values, optional.then_some(&defined[..]), None)?;
    }
    Ok(())
}

/// A column of the frames.
struct Frames<'f, 'a, 'w> {
    group: &'f Group<'a>,
    names: &'f Names<'a>,
    writer: &'f mut ColumnWriter<'w>,
}

impl<'a> Frames<'_, 'a, '_> {
    fn fill(self, column: Column) -> Done {
        let names = self.names;
        match column {
            Column::Addr => self.each::<Int64Type>(|cell| Some(cell.addr as i64)),
            Column::Module => self.each::<ByteArrayType>(|cell| names.module(cell.location.module)),
            Column::BuildId => {
                self.each::<ByteArrayType>(|cell| names.build_id(cell.location.module))
            }
            Column::Svma => self.each::<Int64Type>(|cell| {
                names.is_elf(cell.location.module).then_some(cell.location.relative as i64)
            }),
            Column::Offset => self.each::<Int64Type>(|cell| Some(cell.location.offset? as i64)),
            Column::Function => {
                self.each::<ByteArrayType>(|cell| Some(names.get(cell.function?.function?)))
            }
            Column::FunctionOffset => self.each::<Int64Type>(|cell| {
                cell.function.filter(|function| !function.inlined)?;
                Some(cell.location.function_offset? as i64)
            }),
            Column::File => {
                self.each::<ByteArrayType>(|cell| Some(names.get(cell.function?.file?)))
            }
            Column::Line => self.each::<Int32Type>(|cell| {
                Some(cell.function?.line as i32).filter(|&line| line != 0)
            }),
            Column::Inlined => self.each::<BoolType>(|cell| {
                Some(cell.function.is_some_and(|function| function.inlined))
            }),
            Column::FoundBy => {
                self.each::<ByteArrayType>(|cell| Some(names.found_by(cell.frame.found_by)))
            }
            _ => self.each::<BoolType>(|cell| Some(cell.frame.kernel)),
        }
    }

    /// Writes the column: `value` gives that of each frame; of a column that is always there, always one.
    fn each<T: DataType>(self, value: impl Fn(Cell<'a>) -> Option<T::T>) -> Done {
        let Self { group, names, writer } = self;
        let writer = T::get_column_writer_mut(writer).ok_or_else(wrong_type)?;
        let there = writer.get_descriptor().max_def_level();
        let mut batch = Batch::default();
        for stack in group.stacks() {
            let mut repeated = 0;
            for &frame in stack {
                let Some(cell) = group.cell(names.profile, frame) else { continue };
                let value = value(cell);
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
}

/// Values and their levels.
struct Batch<V> {
    values: Vec<V>,
    defined: Vec<i16>,
    repeated: Vec<i16>,
}

impl<V> Default for Batch<V> {
    fn default() -> Self {
        Self { values: Vec::new(), defined: Vec::new(), repeated: Vec::new() }
    }
}

impl<V> Batch<V> {
    fn clear(&mut self) {
        self.values.clear();
        self.defined.clear();
        self.repeated.clear();
    }
}

fn wrong_type() -> ParquetError {
    ParquetError::General("a column of another type".to_owned())
}
