//! Records that wait for the callchains of the samples among them.
//!
//! ```text
//!   records  | comm | sample | map | sample | map | sample |      in the order of time
//!            | ready         |                                    up to the last finished callchain
//!            |               | provisional  |                     up to the last chain as it was walked
//! ```

use std::collections::VecDeque;

use address::Timestamp;
use perf_data::{Batch, Endian, Event, RawBody, RecordContent};

use super::FinishedChain;
use super::change::Change;
use super::data::SampleEvidence;
use crate::rewrite::sample::SampleParts;
use crate::rewrite::{RewriteError, Stacks};

/// Waiting records in their order.
#[derive(Debug, Default)]
pub(super) struct WaitingRecords {
    /// Events as they are written; `None` before the first batch.
    events: Option<Vec<Event>>,
    records: VecDeque<WaitingRecord>,
    /// Number of the first records up to the last one with a provisional callchain.
    provisional: usize,
    /// Number of samples without a callchain, which were damaged.
    omitted: u64,
}

#[derive(Debug)]
enum WaitingRecord {
    // Other records can be far more frequent, and are smaller.
    Sample(Box<WaitingSample>),
    Other(Vec<u8>, Option<Change>),
}

#[derive(Debug)]
struct WaitingSample {
    time: Timestamp,
    /// `None` if the sample is damaged.
    parts: Option<SampleParts>,
    /// The provisional callchain.
    chain: Option<Vec<u64>>,
}

/// A record that can be written.
#[derive(Debug)]
pub(super) struct ReadyRecord {
    pub(super) bytes: Vec<u8>,
    /// Evidence of a sample.
    pub(super) evidence: Option<SampleEvidence>,
    pub(super) change: Option<Change>,
}

impl ReadyRecord {
    /// Returns a record without a sample, which repeats the state of the processes.
    pub(super) const fn other(bytes: Vec<u8>) -> Self {
        Self { bytes, evidence: None, change: None }
    }
}

impl WaitingRecords {
    /// Returns the events as they are written, once they are known.
    pub(super) fn events(&self) -> Option<&[Event]> {
        self.events.as_deref()
    }

    /// Returns the number of samples that cannot be written.
    pub(super) const fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Adds the records of a batch.
    ///
    /// # Errors
    /// If the recording has a form that cannot be written.
    pub(super) fn take_in(&mut self, batch: &Batch) -> Result<(), RewriteError> {
        let head = batch.head();
        if head.endian() == Endian::Big {
            return Err(RewriteError::ByteOrder);
        }
        if self.events.is_none() && !head.events().is_empty() {
            let events = head.events().iter().map(|it| Stacks::Removed.event(it)).collect();
            self.events = Some(events);
        }
        let Some(events) = &self.events else { return Err(RewriteError::NoEvents) };
        for record in batch.raw_records() {
            let kind = record.header.kind;
            match &record.body {
                RawBody::Sample(sample) => {
                    let at = usize::from(sample.event);
                    let written = events.get(at).ok_or(RewriteError::NewEvents)?;
                    let parts = SampleParts::of(sample, &written.attr, false);
                    let waiting = WaitingSample { time: sample.time, parts, chain: None };
                    self.records.push_back(WaitingRecord::Sample(Box::new(waiting)));
                }
                RawBody::Record(body, _) if kind.content() == RecordContent::Whole => {
                    let change = Change::of(kind.0, body);
                    let record = WaitingRecord::Other(record.bytes.to_vec(), change);
                    self.records.push_back(record);
                }
                RawBody::Record(..) | RawBody::Undecodable => {}
            }
        }
        Ok(())
    }

    /// Gives the next waiting sample without one a provisional callchain. The sample was taken at `time`.
    ///
    /// # Errors
    /// If no such sample waits.
    pub(super) fn add_provisional(
        &mut self,
        time: Timestamp,
        chain: Vec<u64>,
    ) -> Result<(), RewriteError> {
        while let Some(record) = self.records.get_mut(self.provisional) {
            let WaitingRecord::Sample(sample) = record else {
                self.provisional += 1;
                continue;
            };
            if sample.time > time {
                break;
            }
            self.provisional += 1;
            if sample.time == time {
                sample.chain = Some(chain);
                return Ok(());
            }
        }
        Err(RewriteError::UnknownSample)
    }

    /// Returns the records from number `from` up to the last one with a provisional callchain.
    pub(super) fn provisional_records(&self, from: usize) -> impl Iterator<Item = Vec<u8>> + '_ {
        let records = self.records.iter().take(self.provisional).skip(from);
        records.filter_map(|record| match record {
            WaitingRecord::Other(bytes, _) => Some(bytes.clone()),
            WaitingRecord::Sample(sample) => {
                let chain = sample.chain.as_deref()?;
                sample.parts.as_ref()?.with_chain(Some(chain))
            }
        })
    }

    /// Returns the number of those records, from number 0 on.
    pub(super) const fn n_provisional(&self) -> usize {
        self.provisional
    }

    /// Passes the records up to the next sample to `write`. The sample was taken at `time`, and has this callchain.
    ///
    /// # Errors
    /// If no such sample waits, and those of `write`.
    pub(super) fn finish_sample(
        &mut self,
        time: Timestamp,
        chain: FinishedChain,
        mut write: impl FnMut(ReadyRecord) -> Result<(), RewriteError>,
    ) -> Result<(), RewriteError> {
        while let Some(record) = self.records.front() {
            if matches!(record, WaitingRecord::Sample(sample) if sample.time > time) {
                break;
            }
            let Some(record) = self.pop() else { break };
            match record {
                WaitingRecord::Other(bytes, change) => {
                    write(ReadyRecord { bytes, evidence: None, change })?;
                }
                WaitingRecord::Sample(sample) if sample.time == time => {
                    let FinishedChain { addresses, end, runs } = chain;
                    let parts = sample.parts.as_ref();
                    let Some(bytes) = parts.and_then(|it| it.with_chain(Some(&addresses))) else {
                        self.omitted += 1;
                        return Ok(());
                    };
                    let evidence = Some(SampleEvidence { end, runs });
                    return write(ReadyRecord { bytes, evidence, change: None });
                }
                // The replay could not decode it, or a filter excluded it.
                WaitingRecord::Sample(_) => self.omitted += 1,
            }
        }
        Err(RewriteError::UnknownSample)
    }

    /// Passes all records to `write`, without samples.
    ///
    /// # Errors
    /// Those of `write`.
    pub(super) fn finish(
        &mut self,
        mut write: impl FnMut(ReadyRecord) -> Result<(), RewriteError>,
    ) -> Result<(), RewriteError> {
        while let Some(record) = self.pop() {
            match record {
                WaitingRecord::Other(bytes, change) => {
                    write(ReadyRecord { bytes, evidence: None, change })?;
                }
                WaitingRecord::Sample(_) => self.omitted += 1,
            }
        }
        Ok(())
    }

    fn pop(&mut self) -> Option<WaitingRecord> {
        self.provisional = self.provisional.saturating_sub(1);
        // The most that ever waited is not kept.
        if self.records.len() < self.records.capacity() / 8 {
            self.records.shrink_to(self.records.len() * 2);
        }
        self.records.pop_front()
    }
}
