//! The same recording as a pipe stream, which carries attributes, names and features in records.

use super::file::{PerfDataBuilder, magic};
use super::user_record::UserRecord;
use crate::bytes::ByteWriter;

/// Choices of the pipe container.
#[derive(Clone, Debug)]
pub struct PipeLayout {
    /// True to write `HEADER_ATTR` before `HEADER_FEATURE`, as older recorders do.
    pub attrs_first: bool,
    /// Number in the empty `HEADER_FEATURE` that ends the list (one above the recorder's last bit).
    /// `None` omits the end mark.
    pub last_feature: Option<u64>,
    /// True to write `EVENT_UPDATE` records with the names.
    pub event_names: bool,
    /// Bytes after the last record, such as the recorder's messages in a capture of both outputs.
    pub trailing_text: Vec<u8>,
}

impl Default for PipeLayout {
    /// Writes features, their end mark, attributes and names, and nothing after the records.
    fn default() -> Self {
        Self {
            attrs_first: false,
            last_feature: Some(35),
            event_names: true,
            trailing_text: Vec::new(),
        }
    }
}

impl PerfDataBuilder {
    /// Returns the recording as a pipe stream.
    ///
    /// Source: `struct perf_pipe_file_header`, `tools/perf/util/header.h`;
    /// `perf_event__synthesize_for_pipe`, `tools/perf/util/synthetic-events.c`.
    #[must_use]
    pub fn build_pipe(&self, layout: &PipeLayout) -> Vec<u8> {
        let mut w = ByteWriter::new(self.endian);
        w.bytes(&magic(self.endian)).u64(16);
        if layout.attrs_first {
            self.write_pipe_attrs(layout, &mut w);
        }
        for (&bit, payload) in &self.features {
            push(&UserRecord::HeaderFeature { bit: u64::from(bit), payload }, &mut w);
        }
        if let Some(bit) = layout.last_feature {
            push(&UserRecord::HeaderFeature { bit, payload: &[] }, &mut w);
        }
        if !layout.attrs_first {
            self.write_pipe_attrs(layout, &mut w);
        }
        w.bytes(&self.records).bytes(&layout.trailing_text);
        w.into_bytes()
    }

    fn write_pipe_attrs(&self, layout: &PipeLayout, w: &mut ByteWriter) {
        for event in &self.events {
            push(&UserRecord::HeaderAttr { attr: &event.attr, ids: &event.ids }, w);
        }
        for event in self.events.iter().filter(|_| layout.event_names) {
            let id = event.ids.first().copied().unwrap_or(0);
            let mut name = event.name.clone().into_bytes();
            name.push(0);
            push(&UserRecord::EventUpdate { kind: 2, id, payload: &name }, w);
        }
    }
}

fn push(record: &UserRecord<'_>, w: &mut ByteWriter) {
    w.bytes(&record.encode(w.endian()));
}
