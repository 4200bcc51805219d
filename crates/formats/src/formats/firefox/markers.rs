//! Markers of a thread: changes of its name, lost samples, fields of its samples at their times, labels from the first
//! to the last of consecutive samples, and spans.

use std::io;

use super::ThreadContext;
use super::sink::{TextSink, push_milliseconds};
use crate::render::field_value::value_text;
use crate::render::text::{push_json, push_number};
use profile::{EventId, FieldRows, FieldValue, Profile, SampleId, StringId};

/// The types of all markers, as a JSON array without its end.
const TYPES: &[u8] = br#"[{"name":"comm","tooltipLabel":"{marker.data.name}","tableLabel":"{marker.data.name}","chartLabel":"{marker.data.name}","display":["marker-chart","marker-table","timeline-overview"],"fields":[{"key":"name","label":"Name","format":"string"}]},
{"name":"lost","tooltipLabel":"{marker.data.count} lost samples","tableLabel":"{marker.data.count} samples","display":["marker-chart","marker-table","timeline-overview"],"fields":[{"key":"count","label":"Samples","format":"integer"}]}"#;
/// The type of values.
const VALUES: &[u8] = br#",
{"name":"values","tooltipLabel":"{marker.data.values}","tableLabel":"{marker.data.values}","chartLabel":"{marker.data.values}","display":["marker-chart","marker-table","timeline-overview"],"fields":[{"key":"values","label":"Values","format":"string"}]}"#;

/// Writes the types of the markers of a profile.
pub(super) fn write_types(profile: &Profile, sink: &mut TextSink<'_>) {
    sink.raw(TYPES);
    if !profile.fields.has_nothing() {
        sink.raw(VALUES);
    }
    sink.raw(b"]");
}

/// A marker at a time, or from one time to another.
#[derive(Debug)]
struct Marker {
    start: u64,
    end: Option<u64>,
    /// Index of its name in the table of strings.
    name: u32,
    /// A JSON object.
    data: Vec<u8>,
}

/// The markers of a thread.
#[derive(Debug, Default)]
pub(super) struct Markers(Vec<Marker>);

impl Markers {
    /// Adds the names that a thread took, with their times.
    pub(super) fn renamed<'n>(
        &mut self,
        names: impl Iterator<Item = &'n (u64, StringId)>,
        shared: &ThreadContext<'_>,
    ) {
        self.0.extend(names.map(|&(start, comm)| {
            let mut data = b"{\"type\":\"comm\",\"name\":\"".to_vec();
            data.extend_from_slice(shared.names.escaped(comm));
            data.extend_from_slice(b"\"}");
            Marker { start, end: None, name: shared.marker_names.0, data }
        }));
    }

    /// Adds a number of lost samples.
    pub(super) fn lost(&mut self, start: u64, lost: u64, shared: &ThreadContext<'_>) {
        let data = format!("{{\"type\":\"lost\",\"count\":{lost}}}").into_bytes();
        self.0.push(Marker { start, end: None, name: shared.marker_names.1, data });
    }

    /// Adds the spans that samples of one thread begin.
    pub(super) fn spans(&mut self, samples: &[SampleId], profile: &Profile) {
        let spans = &profile.fields.spans;
        for (&id, time) in samples.iter().zip(times(samples, profile)) {
            for span in spans.of_sample(id) {
                let Some(start) = time else { continue };
                let data = data(span.key.map_or(&[][..], |key| profile.strings.get(key)));
                let end = Some(start.saturating_add(span.duration));
                self.0.push(Marker { start, end, name: span.name.as_u32(), data });
            }
        }
    }

    /// Adds the fields and labels of samples of an event in one thread, which are in the order of time.
    pub(super) fn values(&mut self, event: EventId, samples: &[SampleId], profile: &Profile) {
        if profile.fields.is_empty() {
            return;
        }
        for label in profile.fields.columns().iter().filter(|column| column.event.is_none()) {
            self.label(label, samples, profile);
        }
        let name = profile.events.get(event).map_or(0, |event| event.name.as_u32());
        for (&id, time) in samples.iter().zip(times(samples, profile)) {
            let fields = profile.fields.of_sample(event, id);
            let fields = fields.filter(|(column, _)| column.event.is_some());
            let texts = fields.map(|(column, value)| named(column, value, profile));
            let texts: Vec<_> = texts.collect();
            if let (Some(start), false) = (time, texts.is_empty()) {
                let data = data(&texts.join(&b' '));
                self.0.push(Marker { start, end: None, name, data });
            }
        }
    }

    fn label(&mut self, label: &FieldRows, samples: &[SampleId], profile: &Profile) {
        let mut before = None;
        for (&id, time) in samples.iter().zip(times(samples, profile)) {
            let value = label.of_sample(id);
            let is_same = value.is_some() && value == before;
            before = value;
            match (value, time, self.0.last_mut()) {
                (Some(_), Some(time), Some(last)) if is_same => last.end = Some(time),
                (Some(value), Some(start), _) => {
                    let data = data(&value_text(profile, Ok(value)));
                    let name = label.name.as_u32();
                    self.0.push(Marker { start, end: Some(start), name, data });
                }
                _ => before = None,
            }
        }
    }

    /// Writes the table of markers. Times are relative to `origin`.
    pub(super) fn write(&self, origin: u64, sink: &mut TextSink<'_>) -> io::Result<()> {
        let all = || self.0.iter();
        sink.raw(b"\"markers\":{");
        sink.column("data", all(), |text, it| text.extend_from_slice(&it.data))?;
        sink.raw(b",");
        sink.column("name", all(), |text, it| push_number(text, it.name))?;
        sink.raw(b",");
        sink.column("startTime", all(), |text, it| {
            push_milliseconds(text, it.start.saturating_sub(origin));
        })?;
        sink.raw(b",");
        sink.column("endTime", all(), |text, it| match it.end {
            Some(end) => push_milliseconds(text, end.saturating_sub(origin)),
            None => text.extend_from_slice(b"null"),
        })?;
        sink.raw(b",");
        // 0 stands for a time, 1 for an interval.
        sink.column("phase", all(), |text, it| push_number(text, u8::from(it.end.is_some())))?;
        sink.raw(b",");
        sink.repeated("category", self.0.len(), b"0")?;
        sink.raw(format!(",\"length\":{}}}", self.0.len()).as_bytes());
        Ok(())
    }
}

fn times(samples: &[SampleId], profile: &Profile) -> impl Iterator<Item = Option<u64>> {
    let row = |id: &SampleId| profile.samples.get(*id)?.time();
    samples.iter().map(move |id| row(id).map(|time| time.0))
}

/// Returns a value with its name.
fn named(column: &FieldRows, value: FieldValue, profile: &Profile) -> Vec<u8> {
    [profile.strings.get(column.name), b"=", &value_text(profile, Ok(value))].concat()
}

/// Returns the data of a marker with values.
fn data(values: &[u8]) -> Vec<u8> {
    let mut data = b"{\"type\":\"values\",\"values\":\"".to_vec();
    push_json(&mut data, values);
    data.extend_from_slice(b"\"}");
    data
}
