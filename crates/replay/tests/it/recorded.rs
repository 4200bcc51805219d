//! Recorded chains of samples, and their use when the dump of the stack ends.

use address::Timestamp;
use synth::{
    Branch, BranchStack, Endian, EventAttr, Feature, PerfDataBuilder, Record, SampleBuilder,
    SampleId, SampleRegs, UserRegs, attr_flag, branch_sample, sample_type, simpleperf_meta_info,
    simpleperf_record, x86_64_reg,
};
use unwinder::{Arch, EndReason, FoundBy};

use crate::replayed::{CONTEXT_KERNEL, CONTEXT_USER, KERNEL, map, replay};
use crate::world::{BASE, IN_MAIN, IN_ROOT, MAIN, Program, ROOT, SP, TEST, ops, stack};

const CONTEXT_USER_DEFERRED: u64 = -640_i64 as u64;
const COOKIE: u64 = 77;
/// Return addresses in `test`, which has frames of two words.
const F: u64 = TEST + 0x10;
const G: u64 = TEST + 0x20;
/// Return addresses in `main` besides [`IN_MAIN`].
const A: u64 = MAIN + 0x40;
const B: u64 = MAIN + 0x50;

/// Frames: lookup address in the process, and evidence.
type Frames = Vec<(u64, FoundBy)>;

/// The return addresses on the stack of a sample at the start of `test`, and its recorded chains.
#[derive(Default)]
struct Given<'a> {
    /// Those in `test` are two words apart. The one in `main` is followed by [`Self::of_main`].
    stack: &'a [u64],
    /// The frame of `main`.
    of_main: &'a [u64],
    /// With context markers.
    callchain: &'a [u64],
    /// In a separate record.
    deferred: Option<&'static [u64]>,
    /// In a record of simpleperf.
    simpleperf: Option<&'a [u64]>,
    /// Source and target, innermost first.
    branches: &'a [(u64, u64)],
    /// The branches are the most recent ones, not those of calls that have not returned.
    any_branch: bool,
    in_kernel: bool,
    no_registers: bool,
    /// Sampled in `root`.
    in_root: bool,
}

impl Given<'_> {
    fn attr(&self) -> EventAttr {
        let dwarf = EventAttr::dwarf(x86_64_reg::USUAL_MASK);
        let branches = if self.any_branch { branch_sample::ANY } else { branch_sample::CALL_STACK };
        EventAttr {
            sample_type: dwarf.sample_type | sample_type::BRANCH_STACK,
            flags: dwarf.flags & !attr_flag::EXCLUDE_CALLCHAIN_USER | attr_flag::DEFER_CALLCHAIN,
            branch_sample_type: branch_sample::USER | branches,
            ..dwarf
        }
    }

    fn sample(&self) -> SampleBuilder {
        let mut stack = stack();
        for address in self.stack {
            stack.word(1).word(*address);
        }
        for word in self.of_main {
            stack.word(*word);
        }
        let pc = if self.in_root { ROOT } else { TEST };
        let regs = UserRegs::x86_64(pc, SP).usual_values();
        let (misc, ip) = if self.in_kernel { (1, KERNEL) } else { (2, pc) };
        let sample = SampleBuilder { misc, ..SampleBuilder::at(ip, 7, 7, 10) };
        let entry = |&(from, to): &(u64, u64)| Branch { from, to, ..Branch::default() };
        let entries = self.branches.iter().map(entry).collect();
        let mut sample = sample.with_regs(&regs).with_stack(&stack.bytes());
        if self.no_registers {
            sample.regs_user = SampleRegs::default();
        }
        SampleBuilder {
            branches: BranchStack { entries, ..BranchStack::default() },
            ..sample.with_callchain(self.callchain)
        }
    }

    fn replayed(&self) -> (Frames, EndReason) {
        let world = Program::new(Arch::X86_64, ops().def_cfa_offset(16)).load();
        let mut data = PerfDataBuilder::new(Endian::Little);
        data.event("cycles", self.attr(), &[]);
        data.feature(&Feature::Arch("x86_64"));
        map(&mut data, &world);
        data.sample(&self.sample());
        if let Some(ips) = self.deferred {
            let record = Record::CallchainDeferred { cookie: COOKIE, ips };
            data.record_at(&record, SampleId::at(7, 7, 11));
        }
        if let Some(ips) = self.simpleperf {
            data.raw_feature(129, &simpleperf_meta_info(&[("simpleperf_version", "1")]));
            let mut body: Vec<u8> = [7_u32, 7].iter().flat_map(|word| word.to_le_bytes()).collect();
            let words = [0, 10, ips.len() as u64].into_iter().chain(ips.iter().copied());
            let words = words.chain(ips.iter().map(|_| SP));
            body.extend(words.flat_map(u64::to_le_bytes));
            data.raw_bytes(&simpleperf_record(Endian::Little, 32775, &body));
        }
        let mut found = replay(data.build(), world.files());
        let (time, frames, end) = found.pop().expect("a sample");
        assert_eq!((time, found.len()), (Timestamp(10), 0));
        let in_process = |kernel: bool, at: u64| if kernel { at } else { BASE + at };
        let frames = frames.into_iter().map(|(at, how, kernel)| (in_process(kernel, at), how));
        (frames.collect(), end)
    }

    /// Expects `walked`, then the return addresses `outer` from the recorded chain.
    #[track_caller]
    fn check(&self, walked: &[u64], outer: &[u64], end: EndReason) {
        let outer = outer.iter().map(|at| (at - 1, FoundBy::Callchain));
        assert_eq!(self.replayed(), (self.expected(walked, outer), end));
    }

    /// Expects `walked`, then the calls `outer` from the processor's call stack.
    #[track_caller]
    fn check_calls(&self, walked: &[u64], outer: &[u64], end: EndReason) {
        let outer = outer.iter().map(|at| (*at, FoundBy::CallStack));
        assert_eq!(self.replayed(), (self.expected(walked, outer), end));
    }

    fn expected(&self, walked: &[u64], outer: impl Iterator<Item = (u64, FoundBy)>) -> Frames {
        let mut expected = vec![(TEST, FoundBy::Sampled)];
        expected.extend(walked.iter().map(|at| (at - 1, FoundBy::Cfi)));
        expected.extend(outer);
        expected
    }
}

#[test]
fn a_frame_pointer_chain_beside_a_cut_stack() {
    let callchain = &[CONTEXT_USER, TEST, F, IN_MAIN, A, IN_ROOT];
    let given = Given { stack: &[F, IN_MAIN], callchain, ..Given::default() };
    given.check(&[F, IN_MAIN], &[A, IN_ROOT], EndReason::Recorded);
}

/// The caller of a function without a frame yet is missing in a frame-pointer chain: the walk has it.
#[test]
fn a_frame_that_only_the_walk_has() {
    let callchain = &[CONTEXT_USER, TEST, IN_MAIN, A, IN_ROOT];
    let given = Given { stack: &[F, IN_MAIN], callchain, ..Given::default() };
    given.check(&[F, IN_MAIN], &[A, IN_ROOT], EndReason::Recorded);
}

#[test]
fn a_sample_in_the_kernel() {
    let callchain = &[CONTEXT_KERNEL, KERNEL, CONTEXT_USER, TEST, F, IN_ROOT];
    let given = Given { stack: &[F, IN_MAIN], callchain, in_kernel: true, ..Given::default() };
    let walked = [(KERNEL, FoundBy::Sampled), (TEST, FoundBy::Sampled), (F - 1, FoundBy::Cfi)];
    let mut expected = walked.to_vec();
    expected.push((IN_MAIN - 1, FoundBy::Cfi));
    assert_eq!(given.replayed(), (expected, EndReason::StackExhausted));
    let given = Given { stack: &[F], ..given };
    let mut expected = walked.to_vec();
    expected.push((IN_ROOT - 1, FoundBy::Callchain));
    assert_eq!(given.replayed(), (expected, EndReason::Recorded));
}

#[test]
fn a_deferred_chain_beside_a_cut_stack() {
    let given = Given {
        stack: &[F, IN_MAIN],
        callchain: &[CONTEXT_USER_DEFERRED, COOKIE],
        deferred: Some(&[TEST, F, IN_MAIN, A, IN_ROOT]),
        ..Given::default()
    };
    given.check(&[F, IN_MAIN], &[A, IN_ROOT], EndReason::Recorded);
}

#[test]
fn a_chain_of_simpleperf_beside_a_cut_stack() {
    let simpleperf = Some(&[TEST, F, IN_MAIN, A, IN_ROOT][..]);
    let given = Given { stack: &[F, IN_MAIN], simpleperf, ..Given::default() };
    given.check(&[F, IN_MAIN], &[A, IN_ROOT], EndReason::Recorded);
}

/// Calls of 5 bytes; the processor records the address of the first.
const CALLS: [(u64, u64); 4] =
    [(F - 5, TEST), (IN_MAIN - 5, TEST), (A - 5, MAIN), (IN_ROOT - 5, MAIN)];

/// Lookup addresses of the processor's call stack are the first bytes of the calls.
#[test]
fn a_call_stack_of_the_processor_beside_a_cut_stack() {
    let given = Given { stack: &[F, IN_MAIN], branches: &CALLS, ..Given::default() };
    given.check_calls(&[F, IN_MAIN], &[A - 5, IN_ROOT - 5], EndReason::Recorded);
}

#[test]
fn calls_of_all_lengths() {
    for (length, end) in [
        (1, EndReason::StackExhausted),
        (2, EndReason::Recorded),
        (8, EndReason::Recorded),
        (9, EndReason::StackExhausted),
    ] {
        let branches = &[(F - 5, TEST), (IN_MAIN - length, TEST), (A - 5, MAIN)];
        let given = Given { stack: &[F, IN_MAIN], branches, ..Given::default() };
        let outer = if end == EndReason::Recorded { &[A - 5][..] } else { &[] };
        given.check_calls(&[F, IN_MAIN], outer, end);
    }
}

#[test]
fn branches_that_are_no_calls_of_the_process() {
    let branches = &[
        (KERNEL, TEST),
        CALLS[0],
        (0, 0),
        CALLS[1],
        (A - 5, KERNEL),
        // Mapped but not executable, and unmapped.
        (BASE + 0x6000, MAIN),
        (BASE, MAIN),
        CALLS[3],
    ];
    let given = Given { stack: &[F, IN_MAIN], branches, ..Given::default() };
    given.check_calls(&[F, IN_MAIN], &[IN_ROOT - 5], EndReason::Recorded);
}

#[test]
fn the_last_branches_are_no_call_stack() {
    let given =
        Given { stack: &[F, IN_MAIN], branches: &CALLS, any_branch: true, ..Given::default() };
    given.check(&[F, IN_MAIN], &[], EndReason::StackExhausted);
}

/// As written by `perf record --call-graph lbr`.
#[test]
fn a_call_stack_alone() {
    let given = Given { branches: &CALLS, no_registers: true, ..Given::default() };
    let outer = CALLS.map(|(from, _)| from);
    given.check_calls(&[], &outer, EndReason::Recorded);
    // No stack.
    Given { no_registers: false, ..given }.check_calls(&[], &outer, EndReason::Recorded);
    // Nothing shows the user address of a thread in the kernel.
    let given = Given { in_kernel: true, ..given };
    assert_eq!(given.replayed(), (vec![(KERNEL, FoundBy::Sampled)], EndReason::KernelOnly));
}

/// The callchain shows the user address at the entry to the kernel, then a number that the frame pointer led to.
#[test]
fn a_call_stack_of_a_sample_in_the_kernel() {
    let callchain = &[CONTEXT_KERNEL, KERNEL, CONTEXT_USER, TEST + 4, 0x3ff5_81e4_da4d_76b1];
    let given = Given { callchain, no_registers: true, in_kernel: true, ..Given::default() };
    let innermost = vec![(KERNEL, FoundBy::Sampled), (TEST + 4, FoundBy::Sampled)];
    assert_eq!(given.replayed(), (innermost.clone(), EndReason::Recorded));
    let given = Given { branches: &CALLS, ..given };
    let mut expected = innermost;
    expected.extend(CALLS.map(|(from, _)| (from, FoundBy::CallStack)));
    assert_eq!(given.replayed(), (expected, EndReason::Recorded));
}

/// A precise address in user mode: the thread was in the kernel when the callchain was taken.
#[test]
fn a_call_stack_of_a_precise_sample() {
    let callchain = &[CONTEXT_KERNEL, KERNEL, CONTEXT_USER, MAIN, 0];
    let given = Given { branches: &CALLS, callchain, no_registers: true, ..Given::default() };
    given.check_calls(&[], &CALLS.map(|(from, _)| from), EndReason::Recorded);
}

/// Values that a frame pointer leads to in functions that do not maintain one.
#[test]
fn addresses_that_are_none() {
    for none in [0, 1, 0xfff, 1 << 56, KERNEL] {
        let callchain = &[CONTEXT_USER, TEST, F, none, IN_ROOT];
        let given = Given { callchain, no_registers: true, ..Given::default() };
        given.check(&[], &[F], EndReason::Recorded);
    }
    let callchain = &[CONTEXT_USER, TEST, 0x1000, (1 << 56) - 1];
    let given = Given { callchain, no_registers: true, ..Given::default() };
    // Nothing is mapped there: the tests count from the program.
    given.check(&[], &[BASE + 0x1000, BASE + (1 << 56) - 1], EndReason::Recorded);
}

#[test]
fn the_chain_that_knows_more_is_taken() {
    let callchain = &[CONTEXT_USER, TEST, F, IN_MAIN, A, B, IN_ROOT];
    let given = Given { stack: &[F, IN_MAIN], callchain, branches: &CALLS, ..Given::default() };
    given.check(&[F, IN_MAIN], &[A, B, IN_ROOT], EndReason::Recorded);
    let given = Given { callchain: &[CONTEXT_USER, TEST, F, IN_MAIN, IN_ROOT], ..given };
    given.check_calls(&[F, IN_MAIN], &[A - 5, IN_ROOT - 5], EndReason::Recorded);
    // At equal length the callchain is used.
    let given = Given { callchain: &[CONTEXT_USER, TEST, F, IN_MAIN, B, IN_ROOT], ..given };
    given.check(&[F, IN_MAIN], &[B, IN_ROOT], EndReason::Recorded);
}

/// `test` called itself; the chain has as many frames inside of the right one as the walk.
#[test]
fn recursion() {
    let callchain = &[CONTEXT_USER, TEST, F, F, F, IN_MAIN, IN_ROOT];
    let given = Given { stack: &[F, F], callchain, ..Given::default() };
    given.check(&[F, F], &[F, IN_MAIN, IN_ROOT], EndReason::Recorded);
    let given = Given { stack: &[F, F, F], ..given };
    given.check(&[F, F, F], &[IN_MAIN, IN_ROOT], EndReason::Recorded);
    // The recorded chain lacks a frame.
    let given = Given { stack: &[G, F, F], ..given };
    given.check(&[G, F, F], &[F, IN_MAIN, IN_ROOT], EndReason::Recorded);
}

#[test]
fn recursion_in_a_call_stack_of_the_processor() {
    let [f, in_main, _, in_root] = CALLS;
    let given =
        Given { stack: &[F, F], branches: &[f, f, f, in_main, in_root], ..Given::default() };
    given.check_calls(&[F, F], &[F - 5, IN_MAIN - 5, IN_ROOT - 5], EndReason::Recorded);
}

/// Either the recorded chain lacks `F` inside of its first `G`, or it has one `G` more than the stack.
#[test]
fn recursion_that_can_be_read_in_two_ways() {
    let callchain = &[CONTEXT_USER, TEST, G, F, G, F, G, IN_MAIN, IN_ROOT];
    let given = Given { stack: &[F, G], callchain, ..Given::default() };
    given.check(&[F, G], &[], EndReason::StackExhausted);
}

#[test]
fn chains_that_disagree() {
    let callchain = &[CONTEXT_USER, TEST, F, A, B, IN_ROOT];
    let given = Given { stack: &[F, IN_MAIN], callchain, ..Given::default() };
    given.check(&[F, IN_MAIN], &[], EndReason::StackExhausted);
    // The last byte of the call instead of the return address.
    let callchain = &[CONTEXT_USER, TEST, F, IN_MAIN - 1, B, IN_ROOT];
    Given { callchain, ..given }.check(&[F, IN_MAIN], &[], EndReason::StackExhausted);
}

#[test]
fn a_chain_that_knows_no_more() {
    let callchain = &[CONTEXT_USER, TEST, F, IN_MAIN];
    let given = Given { stack: &[F, IN_MAIN], callchain, ..Given::default() };
    given.check(&[F, IN_MAIN], &[], EndReason::StackExhausted);
}

#[test]
fn a_walk_that_reached_the_root() {
    let callchain = &[CONTEXT_USER, TEST, F, IN_MAIN, IN_ROOT, A, B];
    let given = Given {
        stack: &[F, IN_MAIN],
        of_main: &[0, 0, 0, IN_ROOT],
        callchain,
        branches: &CALLS,
        ..Given::default()
    };
    given.check(&[F, IN_MAIN, IN_ROOT], &[], EndReason::Root);
}

/// A recorded caller of the outermost function is wrong.
#[test]
fn a_sample_in_the_outermost_function() {
    let callchain = &[CONTEXT_USER, ROOT, A];
    let given = Given { in_root: true, callchain, branches: &CALLS, ..Given::default() };
    assert_eq!(given.replayed(), (vec![(ROOT, FoundBy::Sampled)], EndReason::Root));
}

/// The walk follows CFI that leads nowhere: the dump did not end.
#[test]
fn a_walk_that_ended_for_another_reason() {
    let callchain = &[CONTEXT_USER, TEST, F, IN_MAIN, IN_ROOT];
    let of_main = &[0, 0, 0, 0x10];
    let given = Given { stack: &[F, IN_MAIN], of_main, callchain, ..Given::default() };
    given.check(&[F, IN_MAIN], &[], EndReason::NotMapped);
}

#[test]
fn the_limit_of_frames() {
    let mut callchain = vec![CONTEXT_USER, TEST, F];
    callchain.resize(2 + 127, A);
    let given = Given { stack: &[F], callchain: &callchain, ..Given::default() };
    given.check(&[F], &[A; 125], EndReason::MaxFrames);
    let given = Given { callchain: &callchain[..128], ..given };
    given.check(&[F], &[A; 125], EndReason::Recorded);
}
