//! Samples through the whole replay: samples with missing parts, and kernel frames before user frames.

use std::sync::Arc;

use address::Timestamp;
use image_store::{FileOptions, ImageStore, SharedImages};
use module_map::Timeline;
use perf_data::{Findings, Input, Session, SessionOptions, SharedBytes};
use profile::{Profile, StackId};
use replay::{
    FieldSelection, Join, LabelOptions, NoObserver, Replay, ReplayOptions, Replayer,
    ResolvedFilter, STACKS_DROPPED, SpanOptions,
};
use synth::{
    Endian, EventAttr, Feature, MmapFile, PerfDataBuilder, Record, SampleBuilder, SampleId,
    SampleRegs, UserRegs, x86_64_reg,
};
use unwinder::{Arch, EndReason, Engine, FoundBy, StoredRules};

use crate::world::{BASE, IN_MAIN, IN_ROOT, MAIN, Program, SP, TEST, World, ops, outer, stack};

/// A frame of the result: lookup address in its module, evidence, and whether it is in the kernel.
pub(crate) type Seen = (u64, FoundBy, bool);

/// Time, chain and end of a sample.
pub(crate) type Sampled = (Timestamp, Vec<Seen>, EndReason);

/// Replays a recording.
pub(crate) fn replay(bytes: Vec<u8>, files: FileOptions) -> Vec<Sampled> {
    replay_counting(bytes, files).0
}

/// The same; also returns the number of samples that needed a late map.
pub(crate) fn replay_counting(bytes: Vec<u8>, files: FileOptions) -> (Vec<Sampled>, u64) {
    let replay = replay_with(&Arc::default(), &Arc::new(ImageStore::new(files)), bytes);
    (samples(&replay), replay.missed_maps.late)
}

/// Replays a recording without repair and without the frames that tail calls removed.
pub(crate) fn replay_own_bytes(bytes: Vec<u8>, files: FileOptions) -> Vec<Sampled> {
    let images = Arc::new(ImageStore::new(files));
    samples(&replay_as((&Arc::default(), None), (Join::Off, false), &images, bytes))
}

/// Replays a recording with existing rules and images.
fn replay_with(engine: &Arc<Engine>, images: &Arc<ImageStore>, bytes: Vec<u8>) -> Replay {
    replay_keeping(engine, images, bytes, None)
}

/// The same, with rules that are kept from run to run.
pub(crate) fn replay_keeping(
    engine: &Arc<Engine>,
    images: &Arc<ImageStore>,
    bytes: Vec<u8>,
    kept: Option<Arc<StoredRules>>,
) -> Replay {
    replay_as((engine, kept), (Join::Gaps, true), images, bytes)
}

/// Replays a recording with or without the frames that tail calls removed.
pub(crate) fn replay_with_tail_calls(
    images: &Arc<ImageStore>,
    bytes: Vec<u8>,
    tail_calls: bool,
) -> Replay {
    replay_as((&Arc::default(), None), (Join::Gaps, tail_calls), images, bytes)
}

fn replay_as(
    (engine, kept): (&Arc<Engine>, Option<Arc<StoredRules>>),
    (join, tail_calls): (Join, bool),
    images: &Arc<ImageStore>,
    bytes: Vec<u8>,
) -> Replay {
    replay_all((engine, kept), (join, tail_calls, false), images, bytes)
}

fn replay_all(
    (engine, kept): (&Arc<Engine>, Option<Arc<StoredRules>>),
    (join, tail_calls, drops_stacks): (Join, bool, bool),
    images: &Arc<ImageStore>,
    bytes: Vec<u8>,
) -> Replay {
    let mut timeline = Timeline::new();
    let mut found = Findings::default();
    let input = Input::File(SharedBytes::from(bytes));
    let mut session = Session::open(input, SessionOptions::default(), &mut found).unwrap();
    let options = ReplayOptions {
        filter: ResolvedFilter::default(),
        max_frames: 127,
        join,
        learn_files: true,
        tail_calls,
        off_cpu: false,
        fields: FieldSelection::default(),
        labels: LabelOptions::default(),
        spans: SpanOptions::default(),
        variables: None,
        redact: None,
        trace_text: false,
        branches: false,
        weight_field: None,
    };
    let engine = engine.clone();
    let replayer = Replayer::with_engine(engine, &mut timeline, images, &options);
    let mut replayer = replayer.with_stored_rules(kept);
    replayer.drop_stacks(drops_stacks);
    while let Some(batch) = session.next_batch(&mut found) {
        replayer.feed(batch, &NoObserver);
    }
    let replay = replayer.finish(&NoObserver);
    assert_eq!(replay.profile.summary.samples_dropped, 0);
    replay
}

pub(crate) fn samples(replay: &Replay) -> Vec<Sampled> {
    let time = |time: Option<Timestamp>| time.unwrap_or_default();
    let samples = replay.profile.samples.iter();
    samples.map(|s| (time(s.time()), chain(&replay.profile, s.stack), s.end)).collect()
}

fn chain(profile: &Profile, mut node: Option<StackId>) -> Vec<Seen> {
    let mut frames = Vec::new();
    while let Some(at) = node.and_then(|node| profile.stacks.get(node)) {
        let frame = profile.frames.get(at.frame).expect("a frame");
        let location = profile.locations.get(frame.location).expect("a location");
        frames.push((location.relative, frame.found_by, frame.kernel));
        node = at.parent;
    }
    frames
}

/// Checks one sample of process 7, which runs `test` with a frame of one word.
fn check(change: impl FnOnce(SampleBuilder) -> SampleBuilder, frames: &[Seen], end: EndReason) {
    let world = Program::new(Arch::X86_64, ops().def_cfa_offset(16)).load();
    let found = replay(recording(&world, change), world.files());
    assert_eq!(found, [(Timestamp(10), frames.to_vec(), end)]);
}

#[test]
fn a_dropped_stack_leaves_the_leaf() {
    let world = Program::new(Arch::X86_64, ops().def_cfa_offset(16)).load();
    let images = Arc::new(ImageStore::new(world.files()));
    let bytes = recording(&world, |sample| sample);
    let how = (Join::Gaps, true, true);
    let replay = replay_all((&Arc::default(), None), how, &images, bytes);
    let leaf = (TEST - BASE, FoundBy::Sampled, false);
    assert_eq!(samples(&replay), [(Timestamp(10), vec![leaf], EndReason::NoUserStack)]);
    let finding = &replay.profile.summary.findings[0];
    assert_eq!((finding.kind.as_str(), finding.count), (STACKS_DROPPED, 1));
}

fn recording(world: &World, change: impl FnOnce(SampleBuilder) -> SampleBuilder) -> Vec<u8> {
    let mut data = PerfDataBuilder::new(Endian::Little);
    data.event("cpu-clock", EventAttr::dwarf(x86_64_reg::USUAL_MASK), &[]);
    data.feature(&Feature::Arch("x86_64"));
    map(&mut data, world);
    let mut stack = stack();
    outer(stack.word(1).word(IN_MAIN));
    let regs = UserRegs::x86_64(TEST, SP);
    let sample = SampleBuilder { misc: 2, ..SampleBuilder::at(TEST, 7, 7, 10) };
    let sample = sample.with_regs(&regs.usual_values()).with_stack(&stack.bytes());
    data.sample(&change(sample));
    data.build()
}

pub(crate) fn map(data: &mut PerfDataBuilder, world: &World) {
    let file = MmapFile::Inode { major: 1, minor: 1, inode: 1, generation: 1 };
    for (start, prot) in [(0x1000, 5), (0x5000, 1)] {
        let record = Record::Mmap2 {
            pid: 7,
            tid: 7,
            addr: BASE + start,
            len: 0x4000,
            pgoff: start,
            file,
            prot,
            flags: 2,
            name: world.path(),
        };
        data.record_at(&record, SampleId::at(7, 7, 1));
    }
}

const USER: [Seen; 3] = [
    (TEST - BASE, FoundBy::Sampled, false),
    (IN_MAIN - 1 - BASE, FoundBy::Cfi, false),
    (IN_ROOT - 1 - BASE, FoundBy::Cfi, false),
];

#[test]
fn a_usual_sample() {
    check(|sample| sample, &USER, EndReason::Root);
}

/// Two runs with shared images share the rules, too: the first run makes all rules that the second needs.
#[test]
fn an_engine_is_shared_by_runs() {
    let world = Program::new(Arch::X86_64, ops().def_cfa_offset(16)).load();
    let bytes = recording(&world, |sample| sample);
    let (engine, images) = (Arc::new(Engine::new()), Arc::new(SharedImages::default()));
    for expected in [(0, 3), (3, 0)] {
        let store = Arc::new(ImageStore::sharing(world.files(), images.clone()));
        let replay = replay_with(&engine, &store, bytes.clone());
        assert_eq!(samples(&replay), [(Timestamp(10), USER.to_vec(), EndReason::Root)]);
        assert_eq!((replay.timings.cache_hits, replay.timings.cache_misses), expected);
    }
    assert!(!engine.is_full());
    // The runs have dropped their references.
    assert_eq!(Arc::strong_count(&engine), 1);
}

pub(crate) const KERNEL: u64 = 0xffff_ffff_8100_0000;
pub(crate) const CONTEXT_KERNEL: u64 = -128_i64 as u64;
pub(crate) const CONTEXT_USER: u64 = -512_i64 as u64;

#[test]
fn kernel_frames_come_first() {
    let chain = [CONTEXT_KERNEL, KERNEL, KERNEL + 0x100];
    let mut expected =
        vec![(KERNEL, FoundBy::Sampled, true), (KERNEL + 0xff, FoundBy::Callchain, true)];
    expected.extend(USER);
    let in_kernel = |sample: SampleBuilder| {
        let unknown = [x86_64_reg::BX, x86_64_reg::R12, x86_64_reg::R15];
        let regs =
            unknown.iter().fold(UserRegs::x86_64(TEST, SP), |regs, &bit| regs.set(bit, u64::MAX));
        let sample = SampleBuilder { misc: 1, ip: KERNEL, ..sample };
        sample.with_regs(&regs.usual_values()).with_callchain(&chain)
    };
    check(in_kernel, &expected, EndReason::Root);
}

#[test]
fn a_kernel_thread() {
    let change = |sample: SampleBuilder| SampleBuilder {
        misc: 1,
        ip: KERNEL,
        regs_user: SampleRegs::default(),
        stack_user: Default::default(),
        ..sample.with_callchain(&[CONTEXT_KERNEL, KERNEL])
    };
    check(change, &[(KERNEL, FoundBy::Sampled, true)], EndReason::KernelOnly);
}

#[test]
fn no_registers() {
    let change = |sample| SampleBuilder { regs_user: SampleRegs::default(), ..sample };
    check(change, &USER[..1], EndReason::NoUserRegs);
}

#[test]
fn no_stack() {
    let change = |sample| SampleBuilder { stack_user: Default::default(), ..sample };
    check(change, &USER[..1], EndReason::NoUserStack);
}

#[test]
fn registers_of_an_unknown_kind() {
    let change = |mut sample: SampleBuilder| {
        sample.regs_user.abi = 7;
        sample
    };
    check(change, &USER[..1], EndReason::UnsupportedAbi);
}

#[test]
fn a_chain_that_the_recorder_unwound() {
    let recorded = [CONTEXT_USER, TEST, MAIN + 0x20];
    let change = |sample: SampleBuilder| SampleBuilder {
        regs_user: SampleRegs::default(),
        stack_user: Default::default(),
        ..sample.with_callchain(&recorded)
    };
    let expected =
        [(TEST - BASE, FoundBy::Sampled, false), (MAIN + 0x1f - BASE, FoundBy::Callchain, false)];
    check(change, &expected, EndReason::Recorded);
}
