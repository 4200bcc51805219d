//! Trailer of kernel records: task, event, processor and time.
//!
//! Source: `kernel/events/core.c`, `__perf_event__output_id_sample`.

use address::{Pid, Tid, Timestamp};

use crate::bytes::Endian;
use crate::event::EventLayout;

/// Trailer of a kernel record other than a sample (`sample_id`). It is all zero in synthesized records.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SampleId {
    /// Process.
    pub pid: Option<Pid>,
    /// Thread.
    pub tid: Option<Tid>,
    /// Time; 0 if not recorded.
    pub time: Timestamp,
    /// Id of the event.
    pub id: Option<u64>,
    /// Id of the event on that CPU or thread.
    pub stream_id: Option<u64>,
    /// Processor.
    pub cpu: Option<u32>,
}

impl SampleId {
    /// Reads the trailer of a record, given the layout of its event.
    pub(crate) fn read(layout: &EventLayout, trailer: &[u8], endian: Endian) -> Self {
        let fields = &layout.trailer;
        let task = fields.task(trailer, endian);
        Self {
            pid: task.map(|task| task.0),
            tid: task.map(|task| task.1),
            time: layout.trailer_time(trailer, endian),
            id: fields.id(trailer, endian),
            stream_id: fields.stream_id(trailer, endian),
            cpu: fields.cpu(trailer, endian),
        }
    }
}
