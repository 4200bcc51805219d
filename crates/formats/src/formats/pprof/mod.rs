//! pprof: the gzip-compressed `perftools.profiles.Profile` read by `go tool pprof` and compatible programs.
//!
//! Addresses are stated addresses (svma), so code is one location in all processes. A mapping is a part of a file with
//! a constant difference between stated addresses and file offsets, as in a loaded segment.
//!
//! Source: <https://github.com/google/pprof/blob/main/proto/profile.proto>.

mod locations;

use std::io::{self, Write as _};

use crate::facts::FormatFacts;
use crate::printer::Printer;
use crate::render::encoding::gzip::GzipWriter;
use crate::render::encoding::protobuf::ProtoMessage;
use crate::render::field_value::DistinctValues;
use crate::render::truncation::in_table;
use locations::LocationTables;
use profile::query::{SampleGroup, each_location, event_name, group_with_ids, period_units};
use profile::{
    EndReason, EventId, FieldValue, LocationId, Profile, StackId, StringId, Strings, Table,
    ThreadId, ThreadRow,
};

/// Fields of `Profile`.
pub(crate) mod field {
    pub(crate) const SAMPLE_TYPE: u32 = 1;
    pub(crate) const SAMPLE: u32 = 2;
    pub(crate) const MAPPING: u32 = 3;
    pub(crate) const LOCATION: u32 = 4;
    pub(crate) const FUNCTION: u32 = 5;
    pub(crate) const STRING_TABLE: u32 = 6;
    pub(crate) const TIME_NANOS: u32 = 9;
    pub(crate) const DURATION_NANOS: u32 = 10;
    pub(crate) const PERIOD_TYPE: u32 = 11;
    pub(crate) const PERIOD: u32 = 12;
    pub(crate) const COMMENT: u32 = 13;
    pub(crate) const DEFAULT_SAMPLE_TYPE: u32 = 14;
}

/// Bytes of messages to collect before they are compressed.
const FLUSH_SIZE: usize = 1 << 16;

/// Prints a pprof profile.
#[derive(Debug, Clone, Copy)]
pub struct Pprof {
    /// Whether inlined functions are separate lines.
    pub inlines: bool,
}

impl Pprof {
    /// Name, file name endings and weights of the format.
    pub(crate) const FACTS: FormatFacts = FormatFacts::binary(
        "pprof",
        "pprof's protocol buffer, compressed with gzip",
        &[".pb.gz", ".pprof"],
        "application/gzip",
    );
}

impl Printer for Pprof {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        // The default level takes twice the time for a few percent of the size.
        let mut gzip = GzipWriter::new(out, 4);
        let mut names = StringTable::default();
        let units = period_units(profile);
        let mut top = ProtoMessage::default();
        head(profile, &units, &mut names, &mut top);
        samples(profile, &units, &mut names, |message| {
            top.message(field::SAMPLE, message);
            if top.bytes().len() >= FLUSH_SIZE {
                gzip.write_all(top.bytes())?;
                top.clear();
            }
            Ok(())
        })?;
        LocationTables::new(profile, self.inlines).write(&mut names, &mut top);
        gzip.write_all(top.bytes())?;
        top.clear();
        for name in names.strings() {
            top.string(field::STRING_TABLE, name);
        }
        gzip.write_all(top.bytes())?;
        gzip.finish()
    }
}

/// The string table: UTF-8, starting with the empty string.
#[derive(Debug)]
pub(crate) struct StringTable {
    strings: Strings,
}

impl Default for StringTable {
    fn default() -> Self {
        let mut strings = Strings::default();
        strings.intern(b"");
        Self { strings }
    }
}

impl StringTable {
    /// Returns the index of a name. Bytes that are not UTF-8 become U+FFFD.
    pub(crate) fn index(&mut self, name: &[u8]) -> u64 {
        self.strings.intern(String::from_utf8_lossy(&in_table(name)).as_bytes()).as_u32().into()
    }

    /// Iterates over all strings in the order of their indexes.
    pub(crate) fn strings(&self) -> impl Iterator<Item = &[u8]> {
        self.strings.iter()
    }
}

/// Writes the types of the sample values, the default type, and the facts of the recording.
fn head(
    profile: &Profile,
    units: &Table<EventId, Option<&'static str>>,
    names: &mut StringTable,
    top: &mut ProtoMessage,
) {
    let mut value_type = |field, name: &[u8], unit: &str, names: &mut StringTable| {
        let mut message = ProtoMessage::default();
        message.number(1, names.index(name));
        message.number(2, names.index(unit.as_bytes()));
        top.message(field, &message);
    };
    value_type(field::SAMPLE_TYPE, b"samples", "count", names);
    for (event, unit) in units.entries() {
        if let Some(unit) = unit {
            value_type(field::SAMPLE_TYPE, event_name(profile, event), unit, names);
        }
    }
    // Readers show one type of value at a time. The default is off-CPU time if it was requested; otherwise, as in perf
    // report, the period if there is any.
    let unit = |event| units.get(event).copied().flatten().map(|unit| (event, unit));
    let first = profile.off_cpu.and_then(unit);
    let first = first.or_else(|| units.ids().find_map(unit));
    // Pyroscope requires a period type.
    let (kind, unit, period) = match first {
        Some((event, unit)) => (event_name(profile, event), unit, common_period(profile, event)),
        None => (b"samples".as_slice(), "count", Some(1)),
    };
    value_type(field::PERIOD_TYPE, kind, unit, names);
    top.number(field::PERIOD, period.unwrap_or(0));
    let default = first.map_or(b"samples".as_slice(), |(event, _)| event_name(profile, event));
    top.number(field::DEFAULT_SAMPLE_TYPE, names.index(default));
    let times = || profile.samples.iter().filter_map(|sample| sample.time());
    if let (Some(first), Some(last)) = (times().min(), times().max()) {
        // Without a time, Parca dates the profile to 1970.
        let clock = profile.recording.wall_clock;
        top.number(field::TIME_NANOS, clock.and_then(|clock| clock.utc(first)).unwrap_or(0));
        top.number(field::DURATION_NANOS, last.0.saturating_sub(first.0));
    }
    let words: Vec<&[u8]> =
        profile.recording.command_line.iter().map(|&word| profile.strings.get(word)).collect();
    if !words.is_empty() {
        let mut comment = b"recorded by: ".to_vec();
        comment.extend_from_slice(&words.join(&b' '));
        top.packed(field::COMMENT, [names.index(&comment)].into_iter());
    }
}

/// Returns the period of an event if all its samples have the same.
fn common_period(profile: &Profile, event: EventId) -> Option<u64> {
    let mut periods =
        profile.samples.iter().filter(|sample| sample.event == event).map(|sample| sample.period());
    let first = periods.next()??;
    periods.all(|period| period == Some(first)).then_some(first)
}

/// Key of samples that are counted together. The labels contain all of it.
#[derive(PartialEq, Eq, Hash, Clone, Copy)]
struct LabelKey {
    stack: Option<StackId>,
    thread: ThreadId,
    event: EventId,
    end: EndReason,
    /// Values of the requested fields; samples with the same ones have the same number.
    values: u32,
}

/// Calls `write` with each distinct sample, in the order of first appearance.
fn samples(
    profile: &Profile,
    units: &Table<EventId, Option<&'static str>>,
    names: &mut StringTable,
    mut write: impl FnMut(&ProtoMessage) -> io::Result<()>,
) -> io::Result<()> {
    let field_values = DistinctValues::new(profile);
    let groups = group_with_ids(profile, |id, sample| LabelKey {
        stack: sample.stack,
        thread: sample.thread,
        event: sample.event,
        end: sample.end,
        values: field_values.of_sample(id),
    });
    // Position of each event with periods among the values.
    let mut n_values = 1;
    let place = |unit: &Option<&str>| {
        n_values += usize::from(unit.is_some());
        unit.map(|_| n_values - 1)
    };
    let places: Table<EventId, Option<usize>> = units.iter().map(place).collect();
    let mut labels = LabelWriter::new(profile, names);
    let mut message = ProtoMessage::default();
    let mut path: Vec<LocationId> = Vec::new();
    let mut values = vec![0_u64; n_values];
    for SampleGroup { key, count, period } in groups {
        message.clear();
        path.clear();
        each_location(profile, key.stack, |location| path.push(location));
        message.packed(1, path.iter().map(|location| u64::from(location.to_bits())));
        values.fill(0);
        values[0] = count;
        let place = places.get(key.event).copied().flatten();
        if let Some(value) = place.and_then(|place| values.get_mut(place)) {
            *value = period.min(i64::MAX as u64);
        }
        message.packed(2, values.iter().copied());
        labels.write(profile, &key, names, &mut message);
        for (column, value) in field_values.get(key.values) {
            labels.field(profile, *column, *value, names, &mut message);
        }
        write(&message)?;
    }
    Ok(())
}

/// Writer of a sample's labels.
struct LabelWriter {
    pid: u64,
    tid: u64,
    comm: u64,
    event: u64,
    end: u64,
    cgroup: u64,
    process: u64,
    /// Key and name of the service, if the user specified one.
    service: Option<(u64, u64)>,
    comms: Table<ThreadId, u64>,
    processes: Table<ThreadId, u64>,
    events: Table<EventId, u64>,
    scratch: ProtoMessage,
}

impl LabelWriter {
    fn new(profile: &Profile, names: &mut StringTable) -> Self {
        let comms = profile
            .threads
            .iter()
            .map(|thread| names.index(profile.strings.get(thread.comm)))
            .collect();
        let processes = profile
            .threads
            .iter()
            .map(|thread| names.index(profile.strings.get(thread.process)))
            .collect();
        let events = profile
            .events
            .iter()
            .map(|event| names.index(profile.strings.get(event.name)))
            .collect();
        let service = profile.recording.service.as_deref();
        Self {
            process: names.index(b"process"),
            service: service.map(|it| (names.index(b"service_name"), names.index(it))),
            processes,
            pid: names.index(b"pid"),
            tid: names.index(b"tid"),
            comm: names.index(b"comm"),
            event: names.index(b"event"),
            end: names.index(b"end"),
            cgroup: names.index(b"cgroup"),
            comms,
            events,
            scratch: ProtoMessage::default(),
        }
    }

    fn write(
        &mut self,
        profile: &Profile,
        key: &LabelKey,
        names: &mut StringTable,
        sample: &mut ProtoMessage,
    ) {
        let (pid, tid, comm, event, end) = (self.pid, self.tid, self.comm, self.event, self.end);
        if let Some(&ThreadRow { pid: process, tid: thread, .. }) = profile.threads.get(key.thread)
        {
            self.number(pid, process.0, sample);
            self.number(tid, thread.0, sample);
        }
        let name = self.comms.get(key.thread).copied().unwrap_or(0);
        self.text(comm, name, sample);
        let name = self.processes.get(key.thread).copied().unwrap_or(0);
        self.text(self.process, name, sample);
        if let Some((key, name)) = self.service {
            self.text(key, name, sample);
        }
        let name = self.events.get(key.event).copied().unwrap_or(0);
        self.text(event, name, sample);
        let cgroup = profile.threads.get(key.thread).and_then(|thread| thread.cgroup);
        if let Some(path) = cgroup {
            let path = names.index(profile.strings.get(path));
            self.text(self.cgroup, path, sample);
        }
        if !key.end.is_complete() {
            self.text(end, names.index(key.end.as_str().as_bytes()), sample);
        }
    }

    /// Appends the value of a field. Readers take labels with numbers for 64-bit signed ones.
    fn field(
        &mut self,
        profile: &Profile,
        name: StringId,
        value: FieldValue,
        names: &mut StringTable,
        sample: &mut ProtoMessage,
    ) {
        let key = names.index(profile.strings.get(name));
        let number = match value {
            FieldValue::Signed(number) => number,
            FieldValue::Unsigned(number) => number.cast_signed(),
            FieldValue::Text(text) | FieldValue::List(text) => {
                let text = names.index(profile.strings.get(text));
                return self.text(key, text, sample);
            }
        };
        self.scratch.clear();
        self.scratch.number(1, key);
        self.scratch.number(3, number.cast_unsigned());
        sample.message(3, &self.scratch);
    }

    /// Appends a text label, unless the text is empty.
    fn text(&mut self, key: u64, word: u64, sample: &mut ProtoMessage) {
        if word == 0 {
            return;
        }
        self.scratch.clear();
        self.scratch.number(1, key);
        self.scratch.number(2, word);
        sample.message(3, &self.scratch);
    }

    fn number(&mut self, key: u64, number: i32, sample: &mut ProtoMessage) {
        self.scratch.clear();
        self.scratch.number(1, key);
        self.scratch.number(3, i64::from(number) as u64);
        sample.message(3, &self.scratch);
    }
}
