//! Loads from dumps that are ahead of the timeline, in time order.

use std::collections::BTreeMap;
use std::collections::btree_map::OccupiedEntry;

use address::{Pid, Timestamp};
use budget::HeldMemory;
use hashbrown::HashSet;

use super::dump::{JitDump, JitLoad};

/// Future loads of all processes.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// By time, then by order of addition.
    loads: BTreeMap<(Timestamp, u64), PendingLoad>,
    added: u64,
    held: HeldMemory,
}

/// Accounted bytes per load.
const LOAD: usize = size_of::<((Timestamp, u64), PendingLoad)>() + 16;

/// A load with its process and the index of its dump.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingLoad {
    pub(crate) pid: Pid,
    pub(crate) dump: u32,
    pub(crate) load: JitLoad,
}

impl Pending {
    /// Creates an empty schedule, charged to the account of `held`.
    pub(crate) fn new(held: HeldMemory) -> Self {
        Self { held, ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.loads.is_empty()
    }

    /// Adds the loads of a dump that was mapped at `now`.
    pub(crate) fn add(&mut self, dump: &JitDump, pid: Pid, number: u32, now: Timestamp) {
        // Clocks that differ by more than the start of a program takes are different clocks.
        const SAME_CLOCK: u64 = 10_000_000_000;
        let shift = match (dump.begun, now) {
            (Timestamp(0), _) | (_, Timestamp(0)) => 0,
            (begun, now) if begun.0.abs_diff(now.0) <= SAME_CLOCK => 0,
            (begun, now) => now.0.wrapping_sub(begun.0),
        };
        let timeless = dump.begun == Timestamp(0);
        for &load in &dump.loads {
            let time = if timeless { now.0 } else { load.time.0.wrapping_add(shift) };
            self.added += 1;
            let key = (Timestamp(time), self.added);
            self.loads.insert(key, PendingLoad { pid, dump: number, load });
        }
        self.held.set((self.loads.len() * LOAD) as u64);
    }

    /// Returns the dumps that loads belong to.
    pub(crate) fn dumps(&self) -> HashSet<u32> {
        self.loads.values().map(|load| load.dump).collect()
    }

    /// Gives the dumps new numbers. Loads of dumps without one are removed.
    pub(crate) fn renumber(&mut self, number: impl Fn(u32) -> Option<u32>) {
        self.loads.retain(|_, load| number(load.dump).map(|it| load.dump = it).is_some());
        self.held.set((self.loads.len() * LOAD) as u64);
    }

    /// Returns the next load if its time is at most `now`.
    pub(crate) fn next(&mut self, now: Timestamp) -> Option<PendingLoad> {
        let first = self.loads.first_entry().filter(|first| first.key().0 <= now);
        let next = first.map(OccupiedEntry::remove)?;
        self.held.set((self.loads.len() * LOAD) as u64);
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use address::{Avma, FileOffset};

    use super::*;

    #[test]
    fn loads_come_by_time_and_in_order() {
        let load = |time, start| JitLoad {
            time: Timestamp(time),
            start: Avma(start),
            len: 1,
            offset: FileOffset(0),
        };
        let mut pending = Pending::default();
        let begun = Timestamp(1_000);
        let loads = vec![load(1_010, 1), load(1_010, 2), load(1_005, 3)];
        pending.add(&JitDump { begun, loads }, Pid(1), 0, Timestamp(1_001));
        let mut at = |now| pending.next(Timestamp(now)).map(|next| next.load.start.0);
        assert_eq!((at(1_004), at(1_009), at(1_009)), (None, Some(3), None));
        assert_eq!((at(1_010), at(1_010), at(1_010)), (Some(1), Some(2), None));
        let far =
            JitDump { begun: Timestamp(90_000_000_000), loads: vec![load(90_000_000_007, 4)] };
        pending.add(&far, Pid(1), 0, Timestamp(100));
        assert!(pending.next(Timestamp(106)).is_none());
        assert!(pending.next(Timestamp(107)).is_some());
    }
}
