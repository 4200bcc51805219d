//! How many records of which type a recording has.

use super::losses::Losses;
use crate::record_header::RecordKind;

/// Records and bytes of one type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KindCount {
    /// Records.
    pub records: u64,
    /// Their bytes, headers and following payloads included.
    pub bytes: u64,
}

/// Types below this number are counted in a table.
const TABLE: usize = 128;
/// How many other types are counted one by one; hostile files could name as many as they have records.
const OTHERS: usize = 256;

/// The counts of a scan.
#[derive(Clone, Debug)]
pub struct RecordCounts {
    table: Vec<KindCount>,
    others: Vec<(RecordKind, KindCount)>,
    /// All records of types that found no place of their own.
    pub rest: KindCount,
    /// Samples that were dropped: too short, or of an unknown event.
    pub dropped_samples: u64,
    /// Records that the kernel says it lost.
    pub lost_events: u64,
    /// Samples that the kernel says it lost.
    pub lost_samples: u64,
    /// What was lost, by event.
    pub losses: Losses,
    /// Samples whose user callchain was to come in a record of its own and did not.
    pub unmatched_chains: u64,
    /// Bytes that damage made unreadable.
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

    /// Counts records of a type that is in the table.
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

    /// The count of one type.
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

    /// All types that occurred, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (RecordKind, KindCount)> {
        let table = (0..).map(RecordKind).zip(self.table.iter().copied());
        table.chain(self.others.iter().copied()).filter(|(_, count)| count.records > 0)
    }

    /// Records and bytes of all types.
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
