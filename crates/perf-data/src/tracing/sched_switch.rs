//! The tracepoint `sched:sched_switch`: which task leaves a processor, and which comes.
//!
//! Its samples are taken in the task that leaves. The ids in their raw data are those of the machine's own namespace of
//! processes, which need not be those that the samples themselves carry.
//!
//! Source: `include/trace/events/sched.h`, `TRACE_EVENT(sched_switch)`.

use address::Tid;

use super::data::TracingData;
use super::format::{TraceField, TraceValue};
use crate::bytes::Endian;

/// Where samples of `sched:sched_switch` state the two tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchedSwitch {
    prev: TraceField<'static>,
    next: TraceField<'static>,
    endian: Endian,
}

impl SchedSwitch {
    /// The fields by the recorded format of the tracepoint with that id; `None` where that is another tracepoint, or has
    /// no such fields.
    #[must_use]
    pub fn of(data: &TracingData<'_>, id: u64) -> Option<Self> {
        let format = data.format(id).filter(|format| format.name == b"sched_switch")?;
        let field = |name: &[u8]| {
            let field = format.fields.iter().find(|field| field.name == name)?;
            Some(TraceField::number_at(field.offset, field.size))
        };
        Some(Self { prev: field(b"prev_pid")?, next: field(b"next_pid")?, endian: data.endian() })
    }

    /// The threads that leave and come, by the ids of the machine; `None` where the raw data are too short.
    #[must_use]
    pub fn tasks(&self, raw: &[u8]) -> Option<(Tid, Tid)> {
        let task = |field: TraceField<'_>| match field.value(raw, self.endian)? {
            TraceValue::Signed(number, _) => i32::try_from(number).ok().map(Tid),
            _ => None,
        };
        Some((task(self.prev)?, task(self.next)?))
    }
}
