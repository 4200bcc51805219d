//! Reader of aggregated stacks: rows of several files become a profile without names.

use bytes::Bytes;
use hashbrown::HashMap;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader as _, RowGroupReader, SerializedFileReader};

use super::super::pages::{are_inside, rows_of};
use super::columns::{Column, ColumnValue};
use super::counts::{StackCount, StackCounts};
use super::error::StacksError;
use super::schema::{SCHEMA, SCHEMA_KEY, VERSION, VERSION_KEY};
use super::tables::{StackTables, StoredFrame};
use profile::{EndReason, FoundBy, Profile};

/// Stacks of one or several files.
#[derive(Debug)]
pub struct StoredStacks {
    /// Modules, locations, frames and stacks. Locations are file offsets; those of the kernel are distances from the
    /// symbol at the end of the module's name.
    pub profile: Profile,
    /// The distinct stacks, in the order of their first row.
    pub rows: Vec<StackCount>,
}

/// Reader of aggregated stacks. Equal stacks of all files are added up.
#[derive(Debug, Default)]
pub struct StackReader {
    tables: StackTables,
    counts: StackCounts,
    words: Words,
}

/// Known values of closed sets.
#[derive(Debug)]
struct Words {
    ends: HashMap<&'static [u8], EndReason>,
    found_by: HashMap<&'static [u8], FoundBy>,
}

impl Default for Words {
    fn default() -> Self {
        let ends = EndReason::ALL.iter().map(|word| (word.as_str().as_bytes(), *word));
        let found_by = FoundBy::ALL.iter().map(|word| (word.as_str().as_bytes(), *word));
        Self { ends: ends.collect(), found_by: found_by.collect() }
    }
}

impl StackReader {
    /// Adds the rows of a file.
    ///
    /// # Errors
    /// If it is not a file of aggregated stacks of this version, or a damaged one. The rows before the damage are added.
    pub fn add(&mut self, file: impl AsRef<[u8]> + Send + 'static) -> Result<(), StacksError> {
        let file = Bytes::from_owner(file);
        let bytes = file.len() as u64;
        let reader = SerializedFileReader::new(file)?;
        check_kind(reader.metadata(), bytes)?;
        for group in 0..reader.num_row_groups() {
            self.add_group(&*reader.get_row_group(group)?)?;
        }
        Ok(())
    }

    /// Returns the rows of all files.
    #[must_use]
    pub fn finish(self) -> StoredStacks {
        StoredStacks { profile: self.tables.profile, rows: self.counts.into_rows() }
    }

    fn add_group(&mut self, group: &dyn RowGroupReader) -> Result<(), StacksError> {
        let mut columns = GroupColumns::open(group)?;
        let mut list = Vec::new();
        for _ in 0..group.metadata().num_rows() {
            columns.frames.next_row(&self.words, &mut list)?;
            let stack = self.tables.stack(&list)?;
            let end = columns.end.next_value()?;
            let known = self.words.ends.get(&*end).copied();
            let row = StackCount {
                event: self.tables.event(&columns.event.next_value()?),
                process: self.tables.text(&columns.process.next_value()?),
                comm: self.tables.text(&columns.comm.next_value()?),
                end: known.ok_or_else(|| StacksError::value("end", &end))?,
                stack,
                samples: sum("samples", columns.samples.next_value()?)?,
                weight: sum("weight", columns.weight.next_value()?)?,
            };
            self.counts.add(row);
        }
        Ok(())
    }
}

/// Checks that a file states no other kind of rows and no other version. Files that other programs wrote may state
/// neither.
fn check_kind(metadata: &ParquetMetaData, bytes: u64) -> Result<(), StacksError> {
    let pairs = metadata.file_metadata().key_value_metadata().into_iter().flatten();
    for pair in pairs {
        let found = pair.value.clone().unwrap_or_default();
        if pair.key == SCHEMA_KEY && found != SCHEMA {
            return Err(StacksError::OtherSchema { found });
        }
        if pair.key == VERSION_KEY && found != VERSION {
            return Err(StacksError::OtherVersion { found, expected: VERSION });
        }
    }
    if !are_inside(metadata, bytes) {
        return Err(StacksError::Damaged { column: "frames" });
    }
    let rows = rows_of(metadata, bytes);
    rows.map(|_| ()).map_err(|rows| StacksError::TooManyRows { rows, bytes })
}

fn sum(column: &'static str, value: i64) -> Result<u64, StacksError> {
    u64::try_from(value).map_err(|_| StacksError::value(column, value.to_string().as_bytes()))
}

/// The columns of a row group.
struct GroupColumns {
    event: Column<Bytes>,
    process: Column<Bytes>,
    comm: Column<Bytes>,
    samples: Column<i64>,
    weight: Column<i64>,
    end: Column<Bytes>,
    frames: FrameColumns,
}

impl GroupColumns {
    fn open(group: &dyn RowGroupReader) -> Result<Self, StacksError> {
        Ok(Self {
            event: Column::open(group, "event", false)?,
            process: Column::open(group, "process", false)?,
            comm: Column::open(group, "comm", false)?,
            samples: Column::open(group, "samples", false)?,
            weight: Column::open(group, "weight", false)?,
            end: Column::open(group, "end", false)?,
            frames: FrameColumns {
                module: Column::open(group, "module", true)?,
                build_id: Column::open(group, "build_id", true)?,
                offset: Column::open(group, "offset", true)?,
                function: Column::open(group, "function", true)?,
                found_by: Column::open(group, "found_by", true)?,
                kernel: Column::open(group, "kernel", true)?,
                whole: Column::open(group, "whole", true)?,
            },
        })
    }
}

/// The columns of the frames.
struct FrameColumns {
    module: Column<Bytes>,
    build_id: Column<Bytes>,
    offset: Column<i64>,
    function: Column<Bytes>,
    found_by: Column<Bytes>,
    kernel: Column<bool>,
    whole: Column<bool>,
}

impl FrameColumns {
    /// Stores the frames of the next row in `list`, innermost first.
    fn next_row(&mut self, words: &Words, list: &mut Vec<StoredFrame>) -> Result<(), StacksError> {
        list.clear();
        for word in self.found_by.next_list()? {
            let word = word.clone().unwrap_or_default();
            let known = words.found_by.get(&*word).copied();
            let found_by = known.ok_or_else(|| StacksError::value("found_by", &word))?;
            list.push(StoredFrame::of(found_by));
        }
        fill(&mut self.module, list, "module", |frame, text| frame.module = Some(text))?;
        fill(&mut self.build_id, list, "build_id", |frame, text| frame.build_id = Some(text))?;
        fill(&mut self.offset, list, "offset", |frame, offset| {
            frame.offset = Some(offset.cast_unsigned());
        })?;
        fill(&mut self.function, list, "function", |frame, text| frame.function = Some(text))?;
        fill(&mut self.kernel, list, "kernel", |frame, flag| frame.kernel = flag)?;
        fill(&mut self.whole, list, "whole", |frame, flag| frame.whole = flag)
    }
}

/// Stores the values of the next row's frames by `store`.
fn fill<V: ColumnValue>(
    column: &mut Column<V>,
    list: &mut [StoredFrame],
    name: &'static str,
    store: impl Fn(&mut StoredFrame, V),
) -> Result<(), StacksError> {
    let values = column.next_list()?;
    if values.len() != list.len() {
        return Err(StacksError::Damaged { column: name });
    }
    for (frame, value) in list.iter_mut().zip(values) {
        if let Some(value) = value {
            store(frame, value.clone());
        }
    }
    Ok(())
}
