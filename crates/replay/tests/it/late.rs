//! Map records that come after the samples that need them.

use synth::{
    Endian, EventAttr, Feature, MmapFile, PerfDataBuilder, PipeLayout, Record, SampleBuilder,
    SampleId, UserRegs, x86_64_reg,
};
use unwinder::{Arch, EndReason, FoundBy};

use crate::replayed::{Seen, replay_counting};
use crate::world::{BASE, IN_MAIN, IN_ROOT, Program, SP, TEST, World, ops, outer, stack};

const MS: u64 = 1_000_000;
const SAMPLED: u64 = 100 * MS;

const USER: [Seen; 3] = [
    (TEST - BASE, FoundBy::Sampled, false),
    (IN_MAIN - 1 - BASE, FoundBy::Cfi, false),
    (IN_ROOT - 1 - BASE, FoundBy::Cfi, false),
];
const NOWHERE: [Seen; 1] = [(TEST, FoundBy::Sampled, false)];

struct Recording {
    data: PerfDataBuilder,
    world: World,
}

impl Recording {
    fn new() -> Self {
        let world = Program::new(Arch::X86_64, ops().def_cfa_offset(16)).load();
        let mut data = PerfDataBuilder::new(Endian::Little);
        data.event("cpu-clock", EventAttr::dwarf(x86_64_reg::USUAL_MASK), &[]);
        data.feature(&Feature::Arch("x86_64"));
        Self { data, world }
    }

    fn sample(&mut self, pid: u32, time: u64) {
        let mut stack = stack();
        outer(stack.word(1).word(IN_MAIN));
        let regs = UserRegs::x86_64(TEST, SP);
        let sample = SampleBuilder { misc: 2, ..SampleBuilder::at(TEST, pid, pid, time) };
        self.data.sample(&sample.with_regs(&regs.usual_values()).with_stack(&stack.bytes()));
    }

    /// Maps the program's text from `from` to `to`, relative to the base.
    fn map(&mut self, pid: u32, time: u64, (from, to): (u64, u64), name: Option<&[u8]>) {
        let record = Record::Mmap2 {
            pid,
            tid: pid,
            addr: BASE + from,
            len: to - from,
            pgoff: from,
            file: MmapFile::Inode { major: 1, minor: 1, inode: 1, generation: 1 },
            prot: 5,
            flags: 2,
            name: name.unwrap_or(self.world.path()),
        };
        self.data.record_at(&record, SampleId::at(pid, pid, time));
    }

    /// Compares frames and end of each sample, and the number of samples that needed a late map.
    #[track_caller]
    fn check(&self, expected: &[(&[Seen], EndReason)], late: u64) {
        let (found, n_late) = replay_counting(self.data.build(), self.world.files());
        let found: Vec<_> = found.iter().map(|(_, frames, end)| (&frames[..], *end)).collect();
        assert_eq!((found.as_slice(), n_late), (expected, late));
    }
}

const TEXT: (u64, u64) = (0x1000, 0x5000);

#[test]
fn a_map_that_comes_shortly_after_the_sample() {
    let mut recording = Recording::new();
    recording.sample(7, SAMPLED);
    recording.map(7, SAMPLED + 10 * MS, TEXT, None);
    recording.sample(7, SAMPLED + 11 * MS);
    recording.check(&[(&USER, EndReason::Root), (&USER, EndReason::Root)], 1);
}

#[test]
fn a_map_that_comes_much_later_or_to_another_process() {
    let mut recording = Recording::new();
    recording.sample(7, SAMPLED);
    recording.map(8, SAMPLED + 1, TEXT, None);
    recording.map(7, SAMPLED + 10 * MS + 1, TEXT, None);
    recording.check(&[(&NOWHERE, EndReason::NotMapped)], 0);
}

/// Only the callers were unmapped; their maps come in two records.
#[test]
fn several_late_maps() {
    let mut recording = Recording::new();
    recording.map(7, SAMPLED - 1, (0x1200, 0x5000), None);
    recording.sample(7, SAMPLED);
    recording.map(7, SAMPLED + 1, (0x1100, 0x1200), None);
    recording.map(7, SAMPLED + 2, (0x1000, 0x1100), None);
    recording.check(&[(&USER, EndReason::Root)], 1);
}

/// An image replaced another one shortly after the sample: the sample was in the first.
#[test]
fn what_was_mapped_by_then_wins() {
    let mut recording = Recording::new();
    recording.map(7, SAMPLED - 1, (0x1100, 0x5000), None);
    recording.sample(7, SAMPLED);
    recording.map(7, SAMPLED + 1, TEXT, Some(b"/other"));
    recording.map(7, SAMPLED + 2, (0x1000, 0x1100), None);
    recording.check(&[(&USER, EndReason::Root)], 1);
}

/// The child's sample comes before the record of the fork: it then has its parent's maps.
#[test]
fn a_fork_that_comes_shortly_after_the_sample() {
    let mut recording = Recording::new();
    recording.map(7, SAMPLED - 1, TEXT, None);
    recording.sample(9, SAMPLED);
    let fork = Record::Fork { pid: 9, ppid: 7, tid: 9, ptid: 7, time: SAMPLED + 1 };
    recording.data.record_at(&fork, SampleId::at(7, 7, SAMPLED + 1));
    recording.check(&[(&USER, EndReason::Root)], 1);
}

/// The recorder's own FORK of an already running process: it has none of its parent's maps.
/// This applies to samples just before the record and after it.
#[test]
fn a_synthesized_fork_inherits_no_maps() {
    const SYNTHESIZED: u16 = 0x2000;
    let mut recording = Recording::new();
    recording.map(7, SAMPLED - 1, TEXT, None);
    recording.sample(9, SAMPLED);
    let fork = Record::Fork { pid: 9, ppid: 7, tid: 9, ptid: 7, time: SAMPLED + 1 };
    recording.data.record_with(&fork, SYNTHESIZED, SampleId::at(9, 9, SAMPLED + 1));
    recording.sample(9, SAMPLED + 2);
    let nowhere = (&NOWHERE[..], EndReason::NotMapped);
    recording.check(&[nowhere, nowhere], 0);
}

/// `perf record --tail-synthesize` writes the initial maps at the end, without time.
#[test]
fn maps_that_the_recorder_writes_at_the_end() {
    let mut recording = Recording::new();
    recording.sample(7, SAMPLED);
    recording.map(7, 0, TEXT, None);
    recording.check(&[(&USER, EndReason::Root)], 0);
    let stream = recording.data.build_pipe(&PipeLayout::default());
    let (found, _) = replay_counting(stream, recording.world.files());
    assert_eq!(found[0].1, USER);
}
