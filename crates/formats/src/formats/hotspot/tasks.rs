//! Thread events: starts, ends, names, switches, losses.

use address::{Pid, Tid};
use hashbrown::HashMap;

use super::details::{TaskChange, TaskEvent};
use super::message::{MessageKind, Stream};
use super::tables::Definitions;
use profile::{Profile, SampleRow, StringId, ThreadRow};

/// Names of threads, as already written to the stream.
#[derive(Debug, Default)]
pub(super) struct ThreadNames(HashMap<(Pid, Tid), StringId>);

/// Fields at the start of all messages about threads.
pub(super) struct TaskRecord {
    pub(super) pid: Pid,
    pub(super) tid: Tid,
    pub(super) time: u64,
    pub(super) cpu: Option<u32>,
}

impl TaskRecord {
    pub(super) fn of_sample(pid: Pid, tid: Tid, sample: &SampleRow) -> Self {
        let time = sample.time().map_or(0, |time| time.0);
        Self { pid, tid, time, cpu: sample.cpu() }
    }

    pub(super) fn write<W>(&self, stream: &mut Stream<W>) {
        stream.i32(self.pid.0);
        stream.i32(self.tid.0);
        stream.u64(self.time);
        stream.u32(self.cpu.unwrap_or(0));
    }
}

impl ThreadNames {
    /// Writes a thread event.
    pub(super) fn event<W>(
        &mut self,
        tables: &mut Definitions<W>,
        profile: &Profile,
        it: &TaskEvent,
    ) {
        let record = TaskRecord { pid: it.pid, tid: it.tid, time: it.time.0, cpu: it.cpu };
        if let TaskChange::Named(name) = it.what {
            self.command(tables, profile, &record, name);
            return;
        }
        let kind = match it.what {
            TaskChange::Started(_) => MessageKind::ThreadStart,
            TaskChange::Ended => MessageKind::ThreadEnd,
            TaskChange::Lost(_) => MessageKind::Lost,
            TaskChange::Switched(_) | TaskChange::Named(_) => MessageKind::ContextSwitch,
        };
        let stream = &mut tables.stream;
        stream.begin(kind);
        record.write(stream);
        match it.what {
            TaskChange::Started(parent) => stream.i32(parent.0),
            TaskChange::Switched(out) => stream.bool(out),
            // hotspot 1.3.0 stops reading at a loss that contains the number of lost records.
            TaskChange::Lost(_) | TaskChange::Ended | TaskChange::Named(_) => {}
        }
        stream.end();
        if let TaskChange::Started(_) = it.what {
            // A reused thread id has no name yet.
            self.0.remove(&(it.pid, it.tid));
        }
    }

    /// Writes the name of a sample's thread if the stream has none or another one. A child inherits its parent's name
    /// without a record.
    pub(super) fn of_sample<W>(
        &mut self,
        tables: &mut Definitions<W>,
        profile: &Profile,
        thread: &ThreadRow,
        sample: &SampleRow,
    ) {
        let known = self.0.get(&(thread.pid, thread.tid)) == Some(&thread.comm);
        if !known && !profile.strings.get(thread.comm).is_empty() {
            self.command(
                tables,
                profile,
                &TaskRecord::of_sample(thread.pid, thread.tid, sample),
                thread.comm,
            );
        }
    }

    fn command<W>(
        &mut self,
        tables: &mut Definitions<W>,
        profile: &Profile,
        record: &TaskRecord,
        name: StringId,
    ) {
        self.0.insert((record.pid, record.tid), name);
        let name = tables.string(profile, name);
        tables.stream.begin(MessageKind::Command);
        record.write(&mut tables.stream);
        tables.stream.i32(name);
        tables.stream.end();
    }
}
