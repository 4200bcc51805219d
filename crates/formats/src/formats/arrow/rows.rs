//! One row per sample with its frames as a list: the same columns as the Parquet file.

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use arrow_array::{BooleanArray, Int32Array, UInt32Array, UInt64Array};
use arrow_schema::ArrowError;
use profile::query::{Programs, StackWalker};
use profile::{EndReason, Profile, RowId as _, SampleId, SampleRow};

use super::dictionary::{Dictionary, KeywordDictionary};
use super::fields;
use super::metadata::{keys_with_account, keys_with_recording};
use super::row_frames::FrameNames;
use super::stream::{ArrowStream, Column, refused};
use crate::render::row_group::{FrameFunctions, RowGroup, ranges};

/// Name of the layout, shared with the Parquet file.
const SCHEMA: &str = "unwind-perf-samples";

pub(super) fn print(profile: &Profile, inlines: bool, out: &mut dyn io::Write) -> io::Result<()> {
    let mut stream = ArrowStream::new(keys_with_account(SCHEMA, "samples", profile));
    write(&mut stream, profile, Rows::all(inlines), 0..profile.samples.len(), out)?;
    stream.finish(out)
}

/// The columns of a stream.
#[derive(Clone, Copy, Debug)]
struct Rows {
    /// Whether inlined functions are separate frames.
    inlines: bool,
    /// Number of columns for fields and labels.
    fields: usize,
}

impl Rows {
    const fn all(inlines: bool) -> Self {
        Self { inlines, fields: usize::MAX }
    }
}

/// Writes a range of samples. Without samples, it writes one empty batch, which defines the columns.
fn write(
    stream: &mut ArrowStream,
    profile: &Profile,
    columns: Rows,
    samples: Range<usize>,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let walker = StackWalker::new(profile);
    let functions = FrameFunctions::new(profile, columns.inlines);
    let (names, frames) = (SampleNames::new(profile), FrameNames::new(profile));
    let first = samples.start;
    let all = samples.len();
    let parts = ranges(all, |sample| walker.depth(SampleId::from_index(first + sample)));
    for range in parts.chain((all == 0).then_some(0..0)) {
        let range = first + range.start..first + range.end;
        let of_fields = fields::columns(profile, &range, columns.fields).map_err(refused)?;
        let rows = profile.samples.as_slice().get(range).unwrap_or_default();
        let group = RowGroup::new(rows, &walker, &functions);
        let (left, right) = rayon::join(|| names.columns(group.samples), || frames.column(&group));
        let mut all = left.map_err(refused)?;
        all.push(right.map_err(refused)?);
        all.extend(of_fields);
        stream.write(all, out)?;
    }
    Ok(())
}

/// The stream of a growing profile, with batches of the new samples. Facts that are known only at the end of a
/// recording are not in its schema. Later names are in dictionaries that replace the earlier ones.
#[derive(Debug)]
pub struct ArrowRows {
    columns: Rows,
    stream: Option<ArrowStream>,
}

impl ArrowRows {
    /// Returns a stream to which nothing is written yet. With `inlines`, inlined functions are separate frames.
    #[must_use]
    pub const fn new(inlines: bool) -> Self {
        Self { columns: Rows::all(inlines), stream: None }
    }

    /// Writes a range of the profile's samples.
    ///
    /// # Errors
    /// Returns the error of writing to `out`, unchanged.
    pub fn write(
        &mut self,
        profile: &Profile,
        samples: Range<usize>,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        if samples.is_empty() {
            return Ok(());
        }
        self.begin(profile);
        let Some(stream) = &mut self.stream else { return Ok(()) };
        write(stream, profile, self.columns, samples, out)
    }

    /// Ends the stream.
    ///
    /// # Errors
    /// Returns the error of writing to `out`, unchanged.
    pub fn finish(mut self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        self.begin(profile);
        let Some(mut stream) = self.stream else { return Ok(()) };
        if stream.is_empty() {
            write(&mut stream, profile, self.columns, 0..0, out)?;
        }
        stream.finish(out)
    }

    /// Begins the stream. Fields of later heads have no column in it.
    fn begin(&mut self, profile: &Profile) {
        if self.stream.is_none() {
            self.columns.fields = profile.fields.columns().len();
            self.stream = Some(ArrowStream::new(keys_with_recording(SCHEMA, "samples", profile)));
        }
    }
}

/// Dictionaries for the names in samples.
struct SampleNames<'a> {
    profile: &'a Profile,
    comms: Dictionary,
    processes: Dictionary,
    cgroups: Dictionary,
    events: Dictionary,
    ends: KeywordDictionary,
    recording: Dictionary,
    host: Dictionary,
    /// By module.
    build_ids: Dictionary,
    programs: Programs,
}

impl<'a> SampleNames<'a> {
    fn new(profile: &'a Profile) -> Self {
        let threads = || profile.threads.iter();
        let events = profile.events.iter().map(|row| row.name);
        let host = profile.recording.hostname.map(|id| Cow::Borrowed(profile.strings.get(id)));
        let name = profile.recording.name.as_deref().map(Cow::Borrowed);
        Self {
            profile,
            comms: Dictionary::of_strings(profile, threads().map(|row| row.comm)),
            processes: Dictionary::of_strings(profile, threads().map(|row| row.process)),
            cgroups: Dictionary::of_strings(profile, threads().filter_map(|row| row.cgroup)),
            events: Dictionary::of_strings(profile, events),
            ends: KeywordDictionary::new(EndReason::ALL.iter().map(|keyword| keyword.as_str())),
            recording: Dictionary::new(std::iter::once(name)),
            host: Dictionary::new(std::iter::once(host)),
            build_ids: build_ids(profile),
            programs: Programs::new(profile),
        }
    }

    fn columns(&self, rows: &[SampleRow]) -> Result<Vec<Column>, ArrowError> {
        let each = || rows.iter();
        let threads = || each().map(|row| self.profile.threads.get(row.thread));
        let event = |row: &SampleRow| self.profile.events.get(row.event).map(|event| event.name);
        let cpus = each().map(|row| row.cpu()).collect::<UInt32Array>();
        let weights = each().map(|row| row.period().unwrap_or(1));
        let complete = each().map(|row| Some(row.end.is_complete())).collect::<BooleanArray>();
        // A task that had already exited has -1.
        let pids = threads().map(|thread| thread.map_or(-1, |thread| thread.pid.0));
        let tids = threads().map(|thread| thread.map_or(-1, |thread| thread.tid.0));
        let build_ids = threads().map(|thread| self.programs.of(thread?.process_key()));
        let processes = threads().map(|thread| Some(thread?.process));
        Ok(vec![
            Column::optional(
                "time_ns",
                each().map(|row| row.time().map(|time| time.0)).collect::<UInt64Array>(),
            ),
            Column::new("pid", Int32Array::from_iter_values(pids)),
            Column::new("tid", Int32Array::from_iter_values(tids)),
            Column::optional("comm", self.comms.column(threads().map(|it| Some(it?.comm)))?),
            Column::optional("process", self.processes.column(processes)?),
            Column::optional("cpu", cpus),
            Column::optional("event", self.events.column(each().map(event))?),
            Column::optional("period", each().map(|row| row.period()).collect::<UInt64Array>()),
            Column::new("weight", UInt64Array::from_iter_values(weights)),
            Column::new("end", self.ends.column(each().map(|row| row.end as u8))?),
            Column::new("complete", complete),
            Column::optional("cgroup", self.cgroups.column(threads().map(|it| it?.cgroup))?),
            Column::optional("recording", self.recording.repeated(rows.len())?),
            Column::optional("host", self.host.repeated(rows.len())?),
            Column::optional("build_id", self.build_ids.column(build_ids)?),
        ])
    }
}

/// Returns the build-ids of the modules, in hexadecimal.
pub(super) fn build_ids(profile: &Profile) -> Dictionary {
    let text = |id: &address::BuildId| Cow::Owned(id.to_string().into_bytes());
    Dictionary::new(profile.modules.iter().map(|module| module.build_id.as_ref().map(text)))
}

#[cfg(test)]
mod tests {
    use address::{Pid, Tid};
    use arrow_array::AnyDictionaryArray as _;
    use arrow_array::cast::AsArray as _;
    use arrow_array::types::Int32Type;
    use arrow_ipc::reader::StreamReader;
    use profile::{EventRow, LayoutRow, ThreadRow};

    use super::*;

    fn add_sample(profile: &mut Profile, comm: &str) {
        let comm = profile.strings.intern(comm.as_bytes());
        let layout = profile.layouts.push(LayoutRow::default());
        let event = EventRow { name: comm, kind: 1, config: 0, frequency: true, rate: 997 };
        let event = profile.events.push(event);
        let (pid, tid) = (Pid(7), Tid(profile.threads.len() as i32));
        let thread =
            profile.threads.push(ThreadRow { pid, tid, comm, process: comm, cgroup: None });
        profile.samples.push(SampleRow::new(thread, event, EndReason::Root, None, layout));
    }

    #[test]
    fn names_that_come_later_replace_those_before() {
        let (mut profile, mut out) = (Profile::default(), Vec::new());
        let mut rows = ArrowRows::new(true);
        add_sample(&mut profile, "first");
        rows.write(&profile, 0..1, &mut out).expect("memory");
        let early = out.len();
        add_sample(&mut profile, "second");
        add_sample(&mut profile, "first");
        rows.write(&profile, 1..1, &mut out).expect("memory");
        assert_eq!(out.len(), early);
        rows.write(&profile, 1..3, &mut out).expect("memory");
        rows.finish(&profile, &mut out).expect("memory");
        let reader = StreamReader::try_new(&*out, None).expect("a schema");
        assert!(!reader.schema().metadata().contains_key("unwind_perf.summary"));
        let comms = |batch: arrow_array::RecordBatch| {
            let column = batch.column_by_name("comm").expect("a column").clone();
            let column = column.as_dictionary::<Int32Type>();
            let names = column.values().as_string::<i32>();
            let keys = column.normalized_keys().into_iter();
            keys.map(|key| names.value(key).to_owned()).collect::<Vec<_>>()
        };
        let batches: Vec<_> = reader.map(|batch| comms(batch.expect("a batch"))).collect();
        assert_eq!(batches, [vec!["first"], vec!["second", "first"]]);
    }

    #[test]
    fn a_stream_without_samples_has_columns() {
        let (profile, mut out) = (Profile::default(), Vec::new());
        ArrowRows::new(true).finish(&profile, &mut out).expect("memory");
        let reader = StreamReader::try_new(&*out, None).expect("a schema");
        assert_eq!(reader.schema().field(0).name(), "time_ns");
        assert_eq!(reader.map(|batch| batch.expect("a batch").num_rows()).sum::<usize>(), 0);
    }
}
