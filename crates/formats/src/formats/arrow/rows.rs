//! One row a sample with its frames as a list: the columns of the Parquet file.

use std::borrow::Cow;
use std::io;

use address::Pid;
use arrow_array::{BooleanArray, Int32Array, UInt32Array, UInt64Array};
use arrow_schema::ArrowError;
use profile::query::{Programs, StackWalker};
use profile::{EndReason, Profile, RowId as _, SampleId, SampleRow};

use super::dictionary::{Dictionary, Words};
use super::metadata::keys_with_account;
use super::row_frames::FrameNames;
use super::stream::{ArrowStream, Column, refused};
use crate::render::row_group::{FrameFunctions, RowGroup, ranges};

/// The name of the layout, which the Parquet file has, too.
const SCHEMA: &str = "unwind-perf-samples";

/// Writes the stream.
pub(super) fn print(profile: &Profile, inlines: bool, out: &mut dyn io::Write) -> io::Result<()> {
    let walker = StackWalker::new(profile);
    let functions = FrameFunctions::new(profile, inlines);
    let (samples, frames) = (SampleNames::new(profile), FrameNames::new(profile));
    let mut stream = ArrowStream::new(out, keys_with_account(SCHEMA, "samples", profile));
    let all = profile.samples.len();
    let parts = ranges(all, |sample| walker.depth(SampleId::from_index(sample)));
    // A recording without samples has a batch without rows, from which the columns are known.
    for range in parts.chain((all == 0).then_some(0..0)) {
        let rows = profile.samples.as_slice().get(range).unwrap_or_default();
        let group = RowGroup::new(rows, &walker, &functions);
        let (left, right) =
            rayon::join(|| samples.columns(group.samples), || frames.column(&group));
        let mut columns = left.map_err(refused)?;
        columns.push(right.map_err(refused)?);
        stream.write(columns)?;
    }
    stream.finish()
}

/// The names of samples.
struct SampleNames<'a> {
    profile: &'a Profile,
    comms: Dictionary,
    cgroups: Dictionary,
    events: Dictionary,
    ends: Words,
    recording: Dictionary,
    host: Dictionary,
    /// By module.
    build_ids: Dictionary,
    programs: Programs<'a>,
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
            cgroups: Dictionary::of_strings(profile, threads().filter_map(|row| row.cgroup)),
            events: Dictionary::of_strings(profile, events),
            ends: Words::new(EndReason::ALL.iter().map(|word| word.as_str())),
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
        let program = |pid: Pid| self.programs.of(pid);
        let cpus = each().map(|row| row.cpu).collect::<UInt32Array>();
        let weights = each().map(|row| row.period.unwrap_or(1));
        let complete = each().map(|row| Some(row.end.is_complete())).collect::<BooleanArray>();
        // -1 is what a task has that had already exited.
        let pids = threads().map(|thread| thread.map_or(-1, |thread| thread.pid.0));
        let tids = threads().map(|thread| thread.map_or(-1, |thread| thread.tid.0));
        let build_ids = threads().map(|thread| program(thread?.pid));
        Ok(vec![
            Column::optional(
                "time_ns",
                each().map(|row| row.time.map(|time| time.0)).collect::<UInt64Array>(),
            ),
            Column::new("pid", Int32Array::from_iter_values(pids)),
            Column::new("tid", Int32Array::from_iter_values(tids)),
            Column::optional("comm", self.comms.column(threads().map(|it| Some(it?.comm)))?),
            Column::optional("cpu", cpus),
            Column::optional("event", self.events.column(each().map(event))?),
            Column::optional("period", each().map(|row| row.period).collect::<UInt64Array>()),
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

/// The build-ids of modules, in hexadecimal.
pub(super) fn build_ids(profile: &Profile) -> Dictionary {
    let text = |id: &address::BuildId| Cow::Owned(id.to_string().into_bytes());
    Dictionary::new(profile.modules.iter().map(|module| module.build_id.as_ref().map(text)))
}
