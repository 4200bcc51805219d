//! User callchains in separate records: deferred ones of the kernel, matched by thread and cookie, and unwound
//! ones of simpleperf, matched by thread and time.
//!
//! Source: `tools/perf/util/session.c`, `evlist__deliver_deferred_callchain`; simpleperf's `record.h`,
//! `CallChainRecord`.

use std::collections::BTreeMap;

use address::{Tid, Timestamp};

use super::entries::SampleEntry;
use crate::finding::{Finding, Findings};
use crate::record::{Record, RecordBytes, Schema, SimpleperfRecord, TimedRecord};
use crate::stream::RecordCounts;

/// A sample with a deferred callchain.
#[derive(Clone, Copy, Debug)]
struct WaitingSample {
    position: u64,
    time: Timestamp,
    tid: Tid,
    cookie: u64,
}

/// User callchains read so far and the samples that wait for them.
#[derive(Debug, Default)]
pub(crate) struct UserChains {
    /// By thread and cookie: time and position of the record.
    deferred: BTreeMap<(i32, u64), (Timestamp, u64)>,
    /// By thread and time: position of the record.
    unwound: BTreeMap<(i32, u64), u64>,
    waiting: Vec<WaitingSample>,
}

impl UserChains {
    /// Adds a record if it holds a callchain.
    pub(crate) fn record(&mut self, decoded: &TimedRecord<'_>) {
        match &decoded.record {
            Record::CallchainDeferred(deferred) => {
                let tid = decoded.trailer.tid.map_or(-1, |tid| tid.0);
                let place = (decoded.time, decoded.position);
                self.deferred.insert((tid, deferred.cookie), place);
            }
            Record::Simpleperf(SimpleperfRecord::Callchain(chain)) => {
                self.unwound.insert((chain.tid.0, chain.time.0), decoded.position);
            }
            _ => {}
        }
    }

    /// Adds a sample. Only samples of events that defer chains are decoded.
    #[inline]
    pub(crate) fn sample(&mut self, schema: &Schema, found: &RecordBytes<'_>, entry: &SampleEntry) {
        if schema.layout(entry.event).is_some_and(|layout| layout.defers_chains) {
            self.deferring_sample(schema, found, entry);
        }
    }

    fn deferring_sample(&mut self, schema: &Schema, found: &RecordBytes<'_>, entry: &SampleEntry) {
        let Ok(sample) = schema.sample(found.bytes, entry.position, entry.event) else { return };
        if let Some(cookie) = sample.callchain.and_then(|chain| chain.deferred_cookie()) {
            let SampleEntry { position, time, tid, .. } = *entry;
            self.waiting.push(WaitingSample { position, time, tid, cookie });
        }
    }

    /// Returns pairs of the positions of a sample and of its chain, ascending. Drops entries not needed after `limit`.
    pub(crate) fn join(
        &mut self,
        samples: &[SampleEntry],
        limit: Option<Timestamp>,
        counts: &mut RecordCounts,
        findings: &mut Findings,
    ) -> Vec<(u64, u64)> {
        let mut joined = Vec::new();
        let is_due = |time: Timestamp| limit.is_none_or(|limit| time <= limit);
        let (due, left): (Vec<_>, Vec<_>) =
            self.waiting.iter().copied().partition(|sample| is_due(sample.time));
        self.waiting = left;
        for WaitingSample { position, tid, cookie, .. } in due {
            match self.deferred.get(&(tid.0, cookie)) {
                Some(chain) => joined.push((position, chain.1)),
                None => {
                    counts.unmatched_chains += 1;
                    findings.push(Finding::ChainMissing { offset: position });
                }
            }
        }
        // Samples come before the chain that they wait for.
        self.deferred.retain(|_, chain| !is_due(chain.0));
        if !self.unwound.is_empty() {
            joined.extend(samples.iter().filter_map(|sample| {
                let chain = self.unwound.get(&(sample.tid.0, sample.time.0))?;
                Some((sample.position, *chain))
            }));
        }
        joined.sort_unstable();
        joined
    }

    /// Returns the latest time, at most `limit`, up to which all samples have their chains.
    /// A task that sleeps in the kernel gets its chain only when it returns to user space.
    pub(crate) fn complete_until(&self, limit: Timestamp) -> Timestamp {
        let is_missing = |sample: &&WaitingSample| {
            sample.time <= limit && !self.deferred.contains_key(&(sample.tid.0, sample.cookie))
        };
        let first = self.waiting.iter().filter(is_missing).map(|sample| sample.time).min();
        first.map_or(limit, |first| Timestamp(first.0.saturating_sub(1)))
    }

    /// Returns the lowest position still needed.
    pub(crate) fn first_position(&self) -> Option<u64> {
        let deferred = self.deferred.values().map(|chain| chain.1);
        deferred.chain(self.unwound.values().copied()).min()
    }
}
