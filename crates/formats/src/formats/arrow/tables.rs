//! The tables of a profile, one stream each: those of the default format, with names instead of string indexes.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::{UInt32Builder, UInt64Builder};
use arrow_array::{
    BooleanArray, Int32Array, ListArray, StringArray, StructArray, UInt32Array, UInt64Array,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{ArrowError, DataType, Field, Fields, Metadata};
use profile::{
    EndReason, EventRow, FoundBy, FrameRow, InlineRow, LayoutRow, LocationRow, ModuleKind,
    ModuleRow, Profile, SampleRow, StackId, StackRow, StringId, ThreadRow,
};

use super::dictionary::{Dictionary, KeywordDictionary};
use super::fields;
use super::metadata::{keys, keys_with_account};
use super::stream::{ArrowStream, Column, refused};
use crate::render::inline_rows::InlineRows;

/// Name of the layout.
const SCHEMA: &str = "unwind-perf-tables";

/// Rows per batch.
const BATCH: usize = 1 << 16;

type Columns = Result<Vec<Column>, ArrowError>;

/// Writes all tables. The samples come first; their stream has the summary of the run.
pub(super) fn print(profile: &Profile, inlines: bool, out: &mut dyn io::Write) -> io::Result<()> {
    let rows = InlineRows::new(profile, inlines);
    let ends = KeywordDictionary::new(EndReason::ALL.iter().map(|keyword| keyword.as_str()));
    let found_by = KeywordDictionary::new(FoundBy::ALL.iter().map(|keyword| keyword.as_str()));
    let kinds = KeywordDictionary::new(ModuleKind::ALL.iter().map(|keyword| keyword.as_str()));
    let functions = rows.inlines.iter().filter_map(|row| row.function);
    let functions = Dictionary::of_strings(profile, functions);
    let inlines = rows.inlines.iter();
    let files = inlines.flat_map(|row| [row.file, row.declared_file]).flatten();
    let files = Dictionary::of_strings(profile, files);
    let names = profile.threads.iter().map(|row| row.comm);
    let comms = Dictionary::of_strings(profile, names);
    let processes = profile.threads.iter().map(|row| row.process);
    let processes = Dictionary::of_strings(profile, processes);
    let cgroups = profile.threads.iter().filter_map(|row| row.cgroup);
    let cgroups = Dictionary::of_strings(profile, cgroups);
    let text = |id: StringId| String::from_utf8_lossy(profile.strings.get(id));

    let account = keys_with_account(SCHEMA, "samples", profile);
    batches(out, account, profile.samples.as_slice(), |rows, range| {
        let mut columns = samples(rows, &ends)?;
        columns.extend(fields::columns(profile, &range, usize::MAX)?);
        Ok(columns)
    })?;
    let of = |table| keys(SCHEMA, table);
    batches(out, of("stacks"), profile.stacks.as_slice(), |rows, _| Ok(stacks(rows)))?;
    batches(out, of("frames"), profile.frames.as_slice(), |rows, _| frames(rows, &found_by))?;
    batches(out, of("locations"), profile.locations.as_slice(), |part, range| {
        Ok(locations(part, rows.starts.get(range.start..=range.end).unwrap_or_default()))
    })?;
    batches(out, of("inlines"), &rows.inlines, |rows, _| inlined(rows, &functions, &files))?;
    batches(out, of("modules"), profile.modules.as_slice(), |rows, _| {
        modules(rows, &kinds, |id| text(id).into_owned())
    })?;
    batches(out, of("layouts"), profile.layouts.as_slice(), |rows, _| Ok(layouts(rows)))?;
    batches(out, of("threads"), profile.threads.as_slice(), |rows, _| {
        threads(rows, [&comms, &processes, &cgroups])
    })?;
    batches(out, of("events"), profile.events.as_slice(), |rows: &[EventRow], _| {
        let names = StringArray::from_iter_values(rows.iter().map(|row| text(row.name)));
        Ok(vec![Column::new("name", names)])
    })
}

/// Writes a table in batches; `columns` returns the columns for some rows and the range of their indexes.
fn batches<T>(
    out: &mut dyn io::Write,
    metadata: Metadata,
    rows: &[T],
    columns: impl Fn(&[T], Range<usize>) -> Columns,
) -> io::Result<()> {
    let mut stream = ArrowStream::new(metadata);
    // An empty table has one batch without rows, which defines its columns.
    let mut start = 0_usize;
    loop {
        let end = rows.len().min(start.saturating_add(BATCH));
        let part = rows.get(start..end).unwrap_or_default();
        stream.write(columns(part, start..end).map_err(refused)?, out)?;
        start = end;
        if start >= rows.len() {
            return stream.finish(out);
        }
    }
}

fn samples(rows: &[SampleRow], ends: &KeywordDictionary) -> Columns {
    let each = || rows.iter();
    Ok(vec![
        Column::optional(
            "time_ns",
            each().map(|row| row.time().map(|time| time.0)).collect::<UInt64Array>(),
        ),
        Column::new("thread", u32s(each().map(|row| row.thread.as_u32()))),
        Column::new("event", u32s(each().map(|row| row.event.as_u32()))),
        Column::new("end", ends.column(each().map(|row| row.end as u8))?),
        Column::optional("cpu", each().map(|row| row.cpu()).collect::<UInt32Array>()),
        Column::optional("period", each().map(|row| row.period()).collect::<UInt64Array>()),
        Column::optional(
            "stack",
            each().map(|row| row.stack.map(StackId::as_u32)).collect::<UInt32Array>(),
        ),
        Column::new("layout", u32s(each().map(|row| row.layout.as_u32()))),
    ])
}

fn stacks(rows: &[StackRow]) -> Vec<Column> {
    let parents = rows.iter().map(|row| row.parent.map(StackId::as_u32));
    vec![
        Column::optional("parent", parents.collect::<UInt32Array>()),
        Column::new("frame", u32s(rows.iter().map(|row| row.frame.as_u32()))),
    ]
}

fn frames(rows: &[FrameRow], found_by: &KeywordDictionary) -> Columns {
    let each = || rows.iter();
    Ok(vec![
        Column::new("location", u32s(each().map(|row| row.location.as_u32()))),
        Column::new("found_by", found_by.column(each().map(|row| row.found_by as u8))?),
        Column::new("kernel", each().map(|row| Some(row.kernel)).collect::<BooleanArray>()),
        Column::new("instance", u32s(each().map(|row| row.instance.into()))),
    ])
}

/// `starts`: start of each location's rows in the table of inlines, followed by the end of the last one's.
fn locations(rows: &[LocationRow], starts: &[usize]) -> Vec<Column> {
    let each = || rows.iter();
    let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let counts = starts.windows(2).map(|pair| match pair {
        [start, end] => number(end.saturating_sub(*start)),
        _ => 0,
    });
    let firsts = starts.iter().take(rows.len()).map(|&start| number(start));
    vec![
        Column::optional(
            "module",
            each().map(|row| row.module.map(|id| id.0)).collect::<UInt32Array>(),
        ),
        Column::new("relative", UInt64Array::from_iter_values(each().map(|row| row.relative))),
        Column::optional("offset", each().map(|row| row.offset).collect::<UInt64Array>()),
        Column::optional(
            "function_offset",
            each().map(|row| row.function_offset).collect::<UInt64Array>(),
        ),
        Column::new("first_inline", u32s(firsts)),
        Column::new("n_inlines", u32s(counts)),
    ]
}

fn inlined(rows: &[InlineRow], functions: &Dictionary, files: &Dictionary) -> Columns {
    let each = || rows.iter();
    let known = |number: u32| (number != 0).then_some(number);
    let declared_lines = each().map(|row| known(row.declared_line));
    let (lines, columns) = (each().map(|row| known(row.line)), each().map(|row| known(row.column)));
    Ok(vec![
        Column::optional("function", functions.column(each().map(|row| row.function))?),
        Column::optional("file", files.column(each().map(|row| row.file))?),
        Column::optional("line", lines.collect::<UInt32Array>()),
        Column::optional("column", columns.collect::<UInt32Array>()),
        Column::new("inlined", each().map(|row| Some(row.inlined)).collect::<BooleanArray>()),
        Column::optional("declared_file", files.column(each().map(|row| row.declared_file))?),
        Column::optional("declared_line", declared_lines.collect::<UInt32Array>()),
    ])
}

fn modules(
    rows: &[ModuleRow],
    kinds: &KeywordDictionary,
    text: impl Fn(StringId) -> String,
) -> Columns {
    let each = || rows.iter();
    let build_ids = each().map(|row| row.build_id.as_ref().map(ToString::to_string));
    Ok(vec![
        Column::new("path", StringArray::from_iter_values(each().map(|row| text(row.path)))),
        Column::optional(
            "opened",
            each().map(|row| row.opened.map(&text)).collect::<StringArray>(),
        ),
        Column::optional("build_id", build_ids.collect::<StringArray>()),
        Column::new("kind", kinds.column(each().map(|row| row.kind as u8))?),
    ])
}

fn layouts(rows: &[LayoutRow]) -> Vec<Column> {
    let fields = Fields::from(vec![
        Field::new("module", DataType::UInt32, false),
        Field::new("instance", DataType::UInt32, false),
        Field::new("bias", DataType::UInt64, false),
    ]);
    let (mut modules, mut instances, mut biases) =
        (UInt32Builder::new(), UInt32Builder::new(), UInt64Builder::new());
    let mut lengths = Vec::with_capacity(rows.len());
    for row in rows {
        lengths.push(row.biases().len());
        for image in row.biases() {
            modules.append_value(image.module.0);
            instances.append_value(image.instance.into());
            biases.append_value(image.bias.0);
        }
    }
    let values = StructArray::new(
        fields.clone(),
        vec![Arc::new(modules.finish()), Arc::new(instances.finish()), Arc::new(biases.finish())],
        None,
    );
    let item = Arc::new(Field::new("item", DataType::Struct(fields), false));
    let offsets = OffsetBuffer::from_lengths(lengths);
    vec![Column::new("biases", ListArray::new(item, offsets, Arc::new(values), None))]
}

/// `names`: dictionaries of thread, process and control group names.
fn threads(rows: &[ThreadRow], names: [&Dictionary; 3]) -> Columns {
    let [comms, processes, cgroups] = names;
    let each = || rows.iter();
    Ok(vec![
        Column::new("pid", Int32Array::from_iter_values(each().map(|row| row.pid.0))),
        Column::new("tid", Int32Array::from_iter_values(each().map(|row| row.tid.0))),
        Column::new("comm", comms.column(each().map(|row| Some(row.comm)))?),
        Column::new("process", processes.column(each().map(|row| Some(row.process)))?),
        Column::optional("cgroup", cgroups.column(each().map(|row| row.cgroup))?),
    ])
}

fn u32s(values: impl Iterator<Item = u32>) -> UInt32Array {
    UInt32Array::from_iter_values(values)
}
