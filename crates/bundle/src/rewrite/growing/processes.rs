//! The recorded processes at a point of a recording: the records that a new file repeats, so that it can begin there.
//!
//! ```text
//!   records     comm  map A  map B over A  fork 7 -> 8  thread 9  exit 9
//!   repeated    comm  map B  comm of 8  map B of 8
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use perf_data::{EventAttr, RecordKind, SampleType, Task};

use super::change::Change;

/// Flag of a name that was set by exec, in the upper byte of a record's flags, and the offset of that byte.
/// Source: `PERF_RECORD_MISC_COMM_EXEC`, `struct perf_event_header`.
const BY_EXEC: u8 = 1 << (13 - 8);
const FLAGS: usize = 5;
/// Offset of the process and the thread in names and maps.
const TASK: usize = 8;
/// Maps of a process that are kept at least before overlaid ones are searched for.
const LEAST_MAPS: usize = 64;

/// A record that is repeated.
#[derive(Clone, Debug)]
struct Repeated {
    /// Place in the order of the repeated records.
    order: u64,
    bytes: Arc<[u8]>,
    /// The start of the task that inherits the name or map, if the record is of another one.
    heir: Option<Task>,
}

/// A mapping.
#[derive(Clone, Debug)]
struct Map {
    start: u64,
    /// Last address; the end may be that of the address space.
    last: u64,
    record: Repeated,
}

/// Records of a process.
#[derive(Clone, Debug, Default)]
struct Process {
    maps: Vec<Map>,
    /// Number of maps after overlaid ones were removed.
    distinct: usize,
    /// By thread.
    names: BTreeMap<i32, Repeated>,
    /// By thread: its start, if it is not the first thread.
    starts: BTreeMap<i32, Repeated>,
    /// True if its first thread has ended.
    has_ended: bool,
}

/// The recorded processes, and facts of the machine.
#[derive(Debug)]
pub(super) struct Processes {
    processes: BTreeMap<i32, Process>,
    facts: BTreeMap<(u32, u64), Repeated>,
    next: u64,
    trailer: Trailer,
}

impl Processes {
    /// Begins without processes. The trailers of records have the fields of `attr`.
    pub(super) fn new(attr: Option<&EventAttr>) -> Self {
        let (processes, facts) = Default::default();
        Self { processes, facts, next: 0, trailer: attr.map(Trailer::of).unwrap_or_default() }
    }

    /// Applies a record.
    pub(super) fn apply(&mut self, change: Change, bytes: &[u8]) {
        match change {
            Change::Map { pid, start, len } => {
                let record = self.repeated(bytes);
                let last = start.saturating_add(len.saturating_sub(1));
                self.processes.entry(pid).or_default().map(Map { start, last, record });
            }
            Change::Name { pid, tid, is_exec } => {
                let record = self.repeated(bytes);
                let process = self.processes.entry(pid).or_default();
                if is_exec {
                    *process = Process::default();
                }
                process.names.insert(tid, record);
            }
            Change::Fork(task) => self.fork(task, bytes),
            Change::Exit { pid, tid } => {
                let thread = u64::from(tid.cast_unsigned());
                self.facts.remove(&(RecordKind::NAMESPACES.0, thread));
                let Some(process) = self.processes.get_mut(&pid) else { return };
                process.starts.remove(&tid);
                process.names.remove(&tid);
                process.has_ended |= pid == tid;
                if process.has_ended && process.starts.is_empty() {
                    self.processes.remove(&pid);
                }
            }
            Change::Fact { kind, key } => {
                let record = self.repeated(bytes);
                self.facts.insert((kind, key), record);
            }
            Change::NoFact { kind, key } => {
                self.facts.remove(&(kind, key));
            }
        }
    }

    /// A thread inherits the name of the one that started it, a process also its maps.
    fn fork(&mut self, task: Task, bytes: &[u8]) {
        let (pid, tid, parent) = (task.pid.0, task.tid.0, task.ppid.0);
        let start = self.repeated(bytes);
        let former = self.processes.get(&parent);
        let name =
            former.and_then(|it| it.names.get(&task.ptid.0).or_else(|| it.names.get(&parent)));
        let name = name.filter(|_| !task.synthesized).cloned();
        let mut maps = match former {
            Some(former) if pid != parent && !task.synthesized => former.maps.clone(),
            _ => Vec::new(),
        };
        let name = name.map(|it| self.inherited(it, task));
        for map in &mut maps {
            map.record = self.inherited(map.record.clone(), task);
        }
        let process = self.processes.entry(pid).or_default();
        if pid == tid {
            // An earlier process with this number has ended, even if the record of its end was lost.
            *process = Process { distinct: maps.len(), maps, ..Process::default() };
        } else {
            process.starts.insert(tid, start);
        }
        process.names.extend(name.map(|name| (tid, name)));
    }

    /// Returns the records in force, in their order.
    pub(super) fn records(&self) -> Vec<Vec<u8>> {
        let processes = self.processes.values().flat_map(Process::records);
        let mut all: Vec<&Repeated> = self.facts.values().chain(processes).collect();
        all.sort_unstable_by_key(|record| record.order);
        all.into_iter().map(|record| self.bytes(record)).collect()
    }

    fn repeated(&mut self, bytes: &[u8]) -> Repeated {
        self.next += 1;
        Repeated { order: self.next, bytes: bytes.into(), heir: None }
    }

    fn inherited(&mut self, record: Repeated, heir: Task) -> Repeated {
        self.next += 1;
        Repeated { order: self.next, heir: Some(heir), ..record }
    }

    /// Returns a record; that of a name or map for an heir is of its task, at the time of its start.
    fn bytes(&self, record: &Repeated) -> Vec<u8> {
        let mut bytes = record.bytes.to_vec();
        let Some(task) = record.heir else { return bytes };
        if bytes.starts_with(&RecordKind::COMM.0.to_le_bytes()) {
            // The maps of the heir are not those of an exec.
            bytes.get_mut(FLAGS).into_iter().for_each(|flags| *flags &= !BY_EXEC);
        }
        let (pid, tid) = (task.pid.0.cast_unsigned(), task.tid.0.cast_unsigned());
        let word = u64::from(tid) << 32 | u64::from(pid);
        put(&mut bytes, TASK, word);
        let end = bytes.len();
        for (field, word) in [(self.trailer.task, word), (self.trailer.time, task.time.0)] {
            if let Some(at) = field.and_then(|from_end| end.checked_sub(from_end)) {
                put(&mut bytes, at, word);
            }
        }
        bytes
    }
}

impl Process {
    fn map(&mut self, map: Map) {
        self.maps.push(map);
        // Each pass visits at most twice as many maps as remained after the last one.
        if self.maps.len() > LEAST_MAPS.max(2 * self.distinct) {
            self.remove_overlaid();
        }
    }

    /// Removes maps that one or several later ones overlay completely.
    fn remove_overlaid(&mut self) {
        let mut later = BTreeMap::new();
        let mut kept: Vec<Map> =
            self.maps.drain(..).rev().filter(|map| overlay(&mut later, map)).collect();
        kept.reverse();
        (self.distinct, self.maps) = (kept.len(), kept);
    }

    fn records(&self) -> impl Iterator<Item = &Repeated> {
        let maps = self.maps.iter().map(|map| &map.record);
        maps.chain(self.names.values()).chain(self.starts.values())
    }
}

/// Adds the range of a map to disjoint ranges, from the first to the last address. Returns false if they contain it.
fn overlay(ranges: &mut BTreeMap<u64, u64>, map: &Map) -> bool {
    let (mut start, mut last) = (map.start, map.last);
    let before = ranges.range(..=start).next_back().map(|(&start, &last)| (start, last));
    if let Some((from, to)) = before {
        if to >= last {
            return false;
        }
        if to >= start.saturating_sub(1) {
            start = from;
        }
    }
    // Joins the ranges that begin in it or behind its end.
    let end = last.saturating_add(1);
    let joined: Vec<u64> = ranges.range(start..=end).map(|(&start, _)| start).collect();
    for from in joined {
        last = ranges.remove(&from).map_or(last, |to| to.max(last));
    }
    ranges.insert(start, last);
    true
}

/// Distance of trailer fields from the end of a record; `None` for fields that trailers do not have.
#[derive(Clone, Copy, Debug, Default)]
struct Trailer {
    task: Option<usize>,
    time: Option<usize>,
}

impl Trailer {
    /// Source: `struct sample_id` in `include/uapi/linux/perf_event.h`.
    fn of(attr: &EventAttr) -> Self {
        const WORD: usize = 8;
        if !attr.flags.sample_id_all() {
            return Self::default();
        }
        let fields = [
            SampleType::TID,
            SampleType::TIME,
            SampleType::ID,
            SampleType::STREAM_ID,
            SampleType::CPU,
            SampleType::IDENTIFIER,
        ];
        let has = |field: &SampleType| attr.sample_type.has(*field);
        let from_end = |at: usize| {
            let is_there = fields.get(at).is_some_and(has);
            let behind = fields.iter().skip(at).filter(|field| has(field)).count();
            is_there.then_some(behind * WORD)
        };
        Self { task: from_end(0), time: from_end(1) }
    }
}

/// Writes a word at an offset, if it is in the record.
fn put(bytes: &mut [u8], at: usize, word: u64) {
    if let Some(field) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
        *field = word.to_le_bytes();
    }
}

#[cfg(test)]
mod tests {
    use address::{Pid, Tid, Timestamp};

    use super::*;
    use crate::rewrite::fields::Fields;

    /// A record of a task with a text, and its process and time in the trailer.
    fn record(kind: RecordKind, misc: u16, [pid, tid]: [i32; 2], text: &str, time: u64) -> Vec<u8> {
        let mut fields = Fields::record(kind, misc);
        fields.i32(pid).i32(tid).text(text.as_bytes(), 8).i32(pid).i32(tid).u64(time);
        fields.finish().unwrap()
    }

    fn attr() -> EventAttr {
        let sample_type = SampleType(SampleType::TID.0 | SampleType::TIME.0);
        let mut attr = EventAttr { sample_type, ..EventAttr::default() };
        attr.flags.0 |= 1 << 18;
        attr
    }

    struct Test(Processes);

    impl Test {
        fn new() -> Self {
            Self(Processes::new(Some(&attr())))
        }

        fn name(&mut self, task: [i32; 2], is_exec: bool, text: &str, time: u64) {
            let misc = if is_exec { 1 << 13 } else { 0 };
            let bytes = record(RecordKind::COMM, misc, task, text, time);
            self.0.apply(Change::Name { pid: task[0], tid: task[1], is_exec }, &bytes);
        }

        fn map(&mut self, pid: i32, range: [u64; 2], text: &str, time: u64) {
            let bytes = record(RecordKind::MMAP2, 1 << 13, [pid, pid], text, time);
            let [start, end] = range;
            self.0.apply(Change::Map { pid, start, len: end - start }, &bytes);
        }

        fn fork(&mut self, parent: [i32; 2], task: [i32; 2], time: u64) {
            let [[ppid, ptid], [pid, tid]] = [parent, task];
            let fork = Task {
                pid: Pid(pid),
                ppid: Pid(ppid),
                tid: Tid(tid),
                ptid: Tid(ptid),
                time: Timestamp(time),
                synthesized: false,
            };
            let bytes = record(RecordKind::FORK, 0, task, "", time);
            self.0.apply(Change::Fork(fork), &bytes);
        }

        fn exit(&mut self, [pid, tid]: [i32; 2]) {
            self.0.apply(Change::Exit { pid, tid }, &[]);
        }

        /// Kind, flags, task, text, and task and time of the trailer of each repeated record.
        fn records(&self) -> Vec<(u32, u16, i32, i32, String, u64)> {
            let word =
                |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            let all = self.0.records().into_iter().map(|bytes| {
                let end = bytes.len() - 16;
                assert_eq!(bytes[8..16], bytes[end..end + 8], "the task of the trailer");
                let text = bytes[16..end].iter().take_while(|&&byte| byte != 0);
                let text = text.map(|&byte| char::from(byte)).collect();
                let (kind, misc) = (word(&bytes, 0), word(&bytes, 4) as u16);
                let (pid, tid) = (word(&bytes, 8) as i32, word(&bytes, 12) as i32);
                (kind, misc, pid, tid, text, word(&bytes, end + 8).into())
            });
            all.collect()
        }
    }

    const NAME: u32 = RecordKind::COMM.0;
    const MAP: u32 = RecordKind::MMAP2.0;
    const FORK: u32 = RecordKind::FORK.0;
    const FLAG: u16 = 1 << 13;

    #[test]
    fn processes_inherit_and_exec_ends_maps() {
        let mut test = Test::new();
        test.map(-1, [1 << 63, u64::MAX], "kernel", 0);
        test.name([7, 7], true, "shell", 1);
        test.map(7, [0x1000, 0x3000], "/bin/sh", 2);
        test.fork([7, 7], [8, 8], 3);
        test.fork([8, 8], [8, 9], 4);
        let text = |text: &str| text.to_owned();
        assert_eq!(
            test.records(),
            [
                (MAP, FLAG, -1, -1, text("kernel"), 0),
                (NAME, FLAG, 7, 7, text("shell"), 1),
                (MAP, FLAG, 7, 7, text("/bin/sh"), 2),
                (NAME, 0, 8, 8, text("shell"), 3),
                (MAP, FLAG, 8, 8, text("/bin/sh"), 3),
                (FORK, 0, 8, 9, text(""), 4),
                (NAME, 0, 8, 9, text("shell"), 4),
            ]
        );
        test.name([8, 8], true, "cc", 5);
        test.exit([7, 7]);
        test.map(8, [0x1000, 0x2000], "/bin/cc", 6);
        assert_eq!(
            test.records(),
            [
                (MAP, FLAG, -1, -1, text("kernel"), 0),
                (NAME, FLAG, 8, 8, text("cc"), 5),
                (MAP, FLAG, 8, 8, text("/bin/cc"), 6),
            ]
        );
    }

    #[test]
    fn a_process_lives_as_long_as_its_threads() {
        let mut test = Test::new();
        test.name([7, 7], false, "a", 1);
        test.fork([7, 7], [7, 8], 2);
        test.exit([7, 7]);
        let kinds = |test: &Test| test.records().iter().map(|it| (it.0, it.3)).collect::<Vec<_>>();
        assert_eq!(kinds(&test), [(FORK, 8), (NAME, 8)]);
        test.exit([7, 8]);
        assert_eq!(kinds(&test), []);
    }

    #[test]
    fn overlaid_maps_are_removed() {
        let mut test = Test::new();
        for round in 0..1000 {
            // Two maps, together below a third one, and one of another range.
            test.map(7, [0x1000, 0x2000], "first", round);
            test.map(7, [0x2000, 0x3000], "second", round);
            test.map(7, [0x1000, 0x3000], "both", round);
            test.map(7, [0x3000 + round * 0x10, 0x3008 + round * 0x10], "other", round);
        }
        let records = test.records();
        let count = |text: &str| records.iter().filter(|it| it.4 == text).count();
        assert_eq!(count("other"), 1000);
        let newest = records.iter().rfind(|it| it.4 == "both").map(|it| it.5);
        assert_eq!(newest, Some(999));
        assert!(records.len() < 2200, "{}", records.len());
    }

    #[test]
    fn ranges_are_joined() {
        let mut ranges = BTreeMap::new();
        let mut add = |start: u64, last: u64| {
            let record = Repeated { order: 0, bytes: [].into(), heir: None };
            overlay(&mut ranges, &Map { start, last, record })
        };
        let added = [(10, 19), (30, 39), (12, 15), (20, 29), (10, 39), (5, 40), (0, u64::MAX)];
        let added = added.map(|(start, last)| add(start, last));
        assert_eq!(added, [true, true, false, true, false, true, true]);
        assert_eq!(ranges.into_iter().collect::<Vec<_>>(), [(0, u64::MAX)]);
    }

    #[test]
    fn facts_are_replaced() {
        let mut test = Test(Processes::new(None));
        let symbol = RecordKind::KSYMBOL.0;
        for (key, byte) in [(1, 1), (2, 2), (1, 3)] {
            test.0.apply(Change::Fact { kind: symbol, key }, &[byte]);
        }
        let bytes = |test: &Test| test.0.records().iter().map(|it| it[0]).collect::<Vec<_>>();
        assert_eq!(bytes(&test), [2, 3]);
        test.0.apply(Change::NoFact { kind: symbol, key: 2 }, &[]);
        assert_eq!(bytes(&test), [3]);
        let kind = RecordKind::NAMESPACES.0;
        test.0.apply(Change::Fact { kind, key: 7 }, &[4]);
        assert_eq!(bytes(&test), [3, 4]);
        test.exit([7, 7]);
        assert_eq!(bytes(&test), [3]);
    }
}
