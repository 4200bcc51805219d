//! The tracepoint `sched:sched_switch`: the task that leaves a processor, and the next one.
//!
//! Its samples are taken in the task that leaves. The ids in their raw data belong to the initial pid namespace of the
//! machine. The samples themselves may carry ids of another namespace.
//!
//! Source: `include/trace/events/sched.h`, `TRACE_EVENT(sched_switch)`.

use address::Tid;

use super::data::TracingData;
use super::format::{TraceField, TraceValue};
use crate::bytes::Endian;

/// Bits of `prev_state` that mean a wait. The bits above are marks, such as the one of `R+`.
///
/// Source: `TASK_REPORT` and `TASK_REPORT_IDLE` in `include/linux/sched.h`.
const REASONS_TO_WAIT: u64 = 0xff;

/// Fields of the two tasks in samples of `sched:sched_switch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchedSwitch {
    prev: TraceField<'static>,
    next: TraceField<'static>,
    /// State of the task that leaves.
    state: Option<TraceField<'static>>,
    endian: Endian,
}

impl SchedSwitch {
    /// Returns the fields according to the recorded format; `None` if the id is
    /// of another tracepoint, or a field is missing.
    #[must_use]
    pub fn of(data: &TracingData<'_>, id: u64) -> Option<Self> {
        let format = data.format(id).filter(|format| format.name == b"sched_switch")?;
        let field = |name: &[u8]| {
            let field = format.fields.iter().find(|field| field.name == name)?;
            Some(TraceField::number_at(field.offset, field.size))
        };
        Some(Self {
            prev: field(b"prev_pid")?,
            next: field(b"next_pid")?,
            state: field(b"prev_state"),
            endian: data.endian(),
        })
    }

    /// Returns the leaving and the next thread, by their ids in the machine; `None` if the raw data are too short.
    #[must_use]
    pub fn tasks(&self, raw: &[u8]) -> Option<(Tid, Tid)> {
        let task = |field: TraceField<'_>| match field.value(raw, self.endian)? {
            TraceValue::Signed(number, _) => i32::try_from(number).ok().map(Tid),
            _ => None,
        };
        Some((task(self.prev)?, task(self.next)?))
    }

    /// Returns true if the leaving thread could have continued: its state is `R`, or `R+` if the kernel interrupted
    /// it. Returns `None` if the raw data do not state it.
    #[must_use]
    pub fn is_runnable(&self, raw: &[u8]) -> Option<bool> {
        let state = match self.state?.value(raw, self.endian)? {
            TraceValue::Signed(number, _) => number as u64,
            TraceValue::Unsigned(number, _) => number,
            _ => return None,
        };
        Some(state & REASONS_TO_WAIT == 0)
    }
}
