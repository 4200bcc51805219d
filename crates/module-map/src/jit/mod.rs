//! Code that was made while the process ran and written to a dump by whoever made it: when it came to be, and where.

mod elf_write;
mod line_write;

use std::fmt;

use address::{Avma, FileOffset, Pid, Timestamp};

pub use elf_write::{CodeImage, LineRow};

/// A piece of code that came to an address at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JitLoad {
    /// When, on the clock of the dump.
    pub time: Timestamp,
    /// The first address.
    pub start: Avma,
    /// How many bytes.
    pub len: u64,
    /// The offset of the code in the image that was made of the dump.
    pub offset: FileOffset,
}

/// What a dump says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JitDump {
    /// The time of its first record, on its clock; the process maps it shortly before that. 0 where its clock is no
    /// clock of nanoseconds: then all code is taken to exist from the beginning.
    pub begun: Timestamp,
    /// Loads and moves in the order of the dump.
    pub loads: Vec<JitLoad>,
}

/// Reads the dumps that processes mark by mapping them. It is asked once for each such mapping, while the records are
/// replayed.
pub trait JitReader: fmt::Debug + Send + Sync {
    /// The dump of that path. The image of its code is to be provided to the library under the same name.
    fn read(&self, path: &[u8], pid: Pid) -> Option<JitDump>;
}

/// Whether a mapping of that name marks a dump: `…/jit-PID.dump`.
///
/// Source: `tools/perf/Documentation/jitdump-specification.txt`; `jit_detect` in `tools/perf/util/jitdump.c`.
pub(crate) fn is_marker(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    name.strip_prefix(b"jit-")
        .and_then(|name| name.strip_suffix(b".dump"))
        .is_some_and(|pid| !pid.is_empty() && pid.iter().all(u8::is_ascii_digit))
}

/// Whether the name is one that `perf inject --jit` gives: `jitted-PID-N.so`. The protection of such maps is not that
/// of memory.
pub(crate) fn is_injected(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    name.starts_with(b"jitted-") && name.ends_with(b".so")
}

/// Loads that are still to come, of all processes.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// By time, the latest first.
    loads: Vec<(Timestamp, PendingLoad)>,
}

/// A load with its process and the name of its dump as an index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingLoad {
    pub(crate) pid: Pid,
    pub(crate) dump: u32,
    pub(crate) load: JitLoad,
}

impl Pending {
    pub(crate) const fn is_empty(&self) -> bool {
        self.loads.is_empty()
    }

    /// Adds the loads of a dump whose mapping was recorded at `now`.
    pub(crate) fn add(&mut self, dump: &JitDump, pid: Pid, number: u32, now: Timestamp) {
        // Two clocks that differ by more than a program takes to begin are different clocks.
        const SAME_CLOCK: u64 = 10_000_000_000;
        let shift = match (dump.begun, now) {
            (Timestamp(0), _) | (_, Timestamp(0)) => 0,
            (begun, now) if begun.0.abs_diff(now.0) <= SAME_CLOCK => 0,
            (begun, now) => now.0.wrapping_sub(begun.0),
        };
        let timeless = dump.begun == Timestamp(0);
        let older = std::mem::take(&mut self.loads);
        // Loads of the same time stay in the order of the dump, which is from the end of this list.
        self.loads.extend(dump.loads.iter().rev().map(|&load| {
            let time = if timeless { now.0 } else { load.time.0.wrapping_add(shift) };
            (Timestamp(time), PendingLoad { pid, dump: number, load })
        }));
        self.loads.extend(older);
        self.loads.sort_by_key(|&(time, _)| std::cmp::Reverse(time));
    }

    /// The next load, if it has happened by `now`.
    pub(crate) fn next(&mut self, now: Timestamp) -> Option<PendingLoad> {
        self.loads.pop_if(|(time, _)| *time <= now).map(|(_, load)| load)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_dumps() {
        assert!(is_marker(b"/tmp/jit-123.dump"));
        assert!(!is_marker(b"/tmp/jit-12a.dump"));
        assert!(!is_marker(b"/tmp/jit-.dump"));
        assert!(is_injected(b"/opt/u/.debug/jit/x/jitted-12-3.so"));
    }

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
