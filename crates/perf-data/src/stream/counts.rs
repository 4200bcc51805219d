//! Number of records of each type in a recording.

use super::losses::Losses;
use crate::record_header::RecordKind;

/// Number and size of the records of one type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KindCount {
    /// Number of records.
    pub records: u64,
    /// Their bytes, including headers and following payloads.
    pub bytes: u64,
}

/// Types below this number are counted in a table.
const TABLE: usize = 128;
/// Limit on other types counted individually; a hostile file could name as many as it has records.
const OTHERS: usize = 256;

/// Counts of all records read.
#[derive(Clone, Debug)]
pub struct RecordCounts {
    table: Vec<KindCount>,
    others: Vec<(RecordKind, KindCount)>,
    /// All records of types beyond the limit.
    pub rest: KindCount,
    /// Samples that were dropped: too short, or of an unknown event.
    pub dropped_samples: u64,
    /// Records lost according to the kernel.
    pub lost_events: u64,
    /// Samples lost according to the kernel.
    pub lost_samples: u64,
    /// Losses by event.
    pub losses: Losses,
    /// Samples with a deferred user callchain that never arrived.
    pub unmatched_chains: u64,
    /// Bytes made unreadable by damage.
    pub skipped_bytes: u64,
}

impl Default for RecordCounts {
    fn default() -> Self {
        Self {
            table: vec![KindCount::default(); TABLE],
            others: Vec::new(),
            rest: KindCount::default(),
            dropped_samples: 0,
            lost_events: 0,
            lost_samples: 0,
            losses: Losses::default(),
            unmatched_chains: 0,
            skipped_bytes: 0,
        }
    }
}

impl RecordCounts {
    #[inline]
    pub(crate) fn add(&mut self, kind: RecordKind, bytes: u64) {
        let count = match self.table.get_mut(kind.0 as usize) {
            Some(count) => count,
            None => self.other(kind),
        };
        count.records += 1;
        count.bytes += bytes;
    }

    /// Adds records of a type in the table.
    pub(crate) fn add_all(&mut self, kind: RecordKind, all: KindCount) {
        if let Some(count) = self.table.get_mut(kind.0 as usize) {
            count.records += all.records;
            count.bytes += all.bytes;
        }
    }

    fn other(&mut self, kind: RecordKind) -> &mut KindCount {
        match self.others.binary_search_by_key(&kind, |other| other.0) {
            Ok(at) => &mut self.others[at].1,
            Err(at) if self.others.len() < OTHERS => {
                self.others.insert(at, (kind, KindCount::default()));
                &mut self.others[at].1
            }
            Err(_) => &mut self.rest,
        }
    }

    /// Returns the count of one type.
    #[must_use]
    pub fn of(&self, kind: RecordKind) -> KindCount {
        let other = || {
            self.others
                .binary_search_by_key(&kind, |other| other.0)
                .ok()
                .map(|at| self.others[at].1)
        };
        self.table.get(kind.0 as usize).copied().or_else(other).unwrap_or_default()
    }

    /// Returns all types that occurred, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (RecordKind, KindCount)> {
        let table = (0..).map(RecordKind).zip(self.table.iter().copied());
        table.chain(self.others.iter().copied()).filter(|(_, count)| count.records > 0)
    }

    /// Returns records and bytes of all types.
    #[must_use]
    pub fn total(&self) -> KindCount {
        let sum = |sum: KindCount, count: KindCount| KindCount {
            records: sum.records + count.records,
            bytes: sum.bytes + count.bytes,
        };
        self.iter().map(|(_, count)| count).fold(self.rest, sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_a_place_and_memory_is_bounded() {
        let mut counts = RecordCounts::default();
        counts.add(RecordKind::SAMPLE, 40);
        counts.add(RecordKind::SAMPLE, 48);
        (0..1000).for_each(|kind| counts.add(RecordKind(1_000_000 - kind), 8));
        assert_eq!(counts.of(RecordKind::SAMPLE), KindCount { records: 2, bytes: 88 });
        assert_eq!(counts.of(RecordKind(1_000_000)), KindCount { records: 1, bytes: 8 });
        assert_eq!(counts.of(RecordKind(5)), KindCount::default());
        assert_eq!(counts.iter().count(), 257);
        assert_eq!(counts.rest, KindCount { records: 744, bytes: 744 * 8 });
        assert_eq!(counts.total(), KindCount { records: 1002, bytes: 88 + 8000 });
    }
}
