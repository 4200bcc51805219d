//! Time ranges without some of the events.
//!
//! The reports of losses come later than the loss. A loss begins after the last record of its buffer.

use std::ops::RangeInclusive;

use address::{TimeRanges, Timestamp};
use hashbrown::HashMap;
use perf_data::{Record, Sample, TimedRecord};

/// Longest time of taking a sample, in nanoseconds.
const CLOSE: u64 = 1_000_000;

/// The losses so far.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    sources: LossSources,
    times: Vec<RangeInclusive<Timestamp>>,
    /// By id of an event: since when it is throttled.
    throttled: HashMap<u64, Timestamp>,
    /// Losses that are reported without a time, after the last record.
    at_end: Vec<LossPlace>,
}

/// Last times of the buffers that records can be lost from.
#[derive(Debug, Default)]
struct LossSources {
    by_cpu: HashMap<u32, LastTimes>,
    by_id: HashMap<u64, LastTimes>,
}

/// Times of the last two samples of a buffer.
#[derive(Clone, Copy, Debug, Default)]
struct LastTimes {
    before: Timestamp,
    last: Timestamp,
}

/// A place where records are lost: a processor, or the id of an event, which differs by processor.
type LossPlace = (Option<u32>, u64);

impl LossSources {
    fn saw(&mut self, sample: &Sample<'_>) {
        let add = |times: &mut LastTimes| {
            *times = LastTimes { before: times.last, last: sample.time };
        };
        if let Some(cpu) = sample.cpu {
            add(self.by_cpu.entry(cpu).or_default());
        }
        if let Some(id) = sample.id {
            add(self.by_id.entry(id).or_default());
        }
    }

    /// Returns the first time at which a record can have been lost that a record at `until` reports.
    ///
    /// Before Linux 5.10, the report is later than the sample that follows the loss, by the time of taking a sample.
    fn since(&self, (cpu, id): LossPlace, until: Timestamp) -> Timestamp {
        let of_cpu = cpu.and_then(|cpu| self.by_cpu.get(&cpu));
        let Some(times) = of_cpu.or_else(|| self.by_id.get(&id)) else { return Timestamp(0) };
        let is_close = until.0.saturating_sub(times.last.0) < CLOSE;
        let last = if is_close { times.before } else { times.last };
        Timestamp(last.0.saturating_add(u64::from(last != Timestamp(0))))
    }
}

impl Losses {
    /// Returns the times in which events may be missing.
    pub(crate) fn times(&self) -> TimeRanges {
        let end = Timestamp(u64::MAX);
        let throttled = self.throttled.values().map(|since| *since..=end);
        let at_end = self.at_end.iter().map(|place| self.sources.since(*place, end)..=end);
        self.times.iter().cloned().chain(throttled).chain(at_end).collect()
    }

    /// Size of the state, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.times.capacity() * size_of::<RangeInclusive<Timestamp>>()
    }

    /// Applies a sample.
    pub(crate) fn sample(&mut self, sample: &Sample<'_>) {
        self.sources.saw(sample);
    }

    /// Applies another record; `affects` returns true for events that have to be recorded completely. Returns true if
    /// events were lost before the record.
    pub(crate) fn record(
        &mut self,
        record: &TimedRecord<'_>,
        affects: impl Fn(u16) -> bool,
    ) -> bool {
        let place = |id| (record.trailer.cpu, id);
        match &record.record {
            Record::Lost(lost) => self.lost(place(lost.id), record.time),
            Record::LostSamples(lost) if lost.lost > 0 && affects(record.event) => {
                self.lost(place(record.trailer.id.unwrap_or(0)), record.time)
            }
            // A throttled event is not recorded up to the other record.
            Record::Throttle(throttle) if affects(record.event) => {
                self.throttled.entry(throttle.id).or_insert(record.time);
                false
            }
            Record::Unthrottle(throttle) if affects(record.event) => {
                let since = self.throttled.remove(&throttle.id);
                let since =
                    since.unwrap_or_else(|| self.sources.since(place(throttle.id), record.time));
                self.add(since, record.time)
            }
            _ => false,
        }
    }

    /// Applies a report of lost records. perf writes some of them without a time, after the last record.
    fn lost(&mut self, place: LossPlace, until: Timestamp) -> bool {
        match until {
            Timestamp(0) => {
                self.at_end.push(place);
                false
            }
            _ => self.add(self.sources.since(place, until), until),
        }
    }

    fn add(&mut self, since: Timestamp, until: Timestamp) -> bool {
        self.times.push(since..=until);
        true
    }
}
