//! Frames that tail calls removed, found by following jumps from the target of the call before a return address.

use std::sync::Arc;

use address::Timestamp;
use image_store::ImageStore;
use profile::Profile;
use synth::{Endian, EventAttr, Feature, PerfDataBuilder, SampleBuilder, UserRegs, x86_64_reg};
use unwinder::{Arch, EndReason, FoundBy};

use super::replayed::{Seen, map, replay_with_tail_calls, samples};
use crate::world::{BASE, FREE, IN_MAIN, IN_ROOT, MAIN, Program, SP, TEST, ops, outer, stack};

/// Functions that end with jumps.
const A: u64 = FREE;
const B: u64 = FREE + 0x40;
const C: u64 = FREE + 0x80;

const RET: &[u8] = &[0xc3];

/// `root` calls `main`, which calls `a`.
fn program() -> Program {
    let program = Program::new(Arch::X86_64, ops()).call(IN_ROOT, MAIN).call(IN_MAIN, A);
    program.code(TEST + 0xff, RET)
}

/// A jump from one address to another.
fn jump(at: u64, to: u64) -> Vec<u8> {
    let distance = to.wrapping_sub(at + 5) as u32;
    [&[0xe9][..], &distance.to_le_bytes()].concat()
}

/// The same if the last comparison was equal.
fn jump_if(at: u64, to: u64) -> Vec<u8> {
    let distance = to.wrapping_sub(at + 6) as u32;
    [&[0x0f, 0x84][..], &distance.to_le_bytes()].concat()
}

/// Adds a function with exactly this code and an unchanged frame.
fn function(program: Program, at: u64, code: &[u8]) -> Program {
    program.function(at, code.len() as u64, ops()).code(at, code)
}

/// A sample in `test`, called by `main`.
fn recording(program: &Program) -> (Vec<u8>, Arc<ImageStore>) {
    let world = program.load();
    let mut data = PerfDataBuilder::new(Endian::Little);
    data.event("cpu-clock", EventAttr::dwarf(x86_64_reg::USUAL_MASK), &[]);
    data.feature(&Feature::Arch("x86_64"));
    map(&mut data, &world);
    let mut stack = stack();
    outer(stack.word(IN_MAIN));
    let regs = UserRegs::x86_64(TEST, SP);
    let sample = SampleBuilder { misc: 2, ..SampleBuilder::at(TEST, 7, 7, 10) };
    data.sample(&sample.with_regs(&regs.usual_values()).with_stack(&stack.bytes()));
    (data.build(), Arc::new(ImageStore::new(world.files())))
}

fn profile(program: &Program, tail_calls: bool) -> (Vec<Seen>, EndReason, Profile) {
    let (bytes, images) = recording(program);
    let replay = replay_with_tail_calls(&images, bytes, tail_calls);
    let mut found = samples(&replay);
    assert_eq!(found.len(), 1);
    let (time, chain, end) = found.remove(0);
    assert_eq!(time, Timestamp(10));
    (chain, end, replay.profile)
}

/// Checks the frames between `test` and `main`, innermost first, and the end reason.
fn check(program: &Program, between: &[(u64, FoundBy)], end: EndReason) {
    let (chain, found_end, _) = profile(program, true);
    let frame = |at: u64, how| if at == 0 { (0, how, false) } else { (at - BASE, how, false) };
    let mut expected = vec![frame(TEST, FoundBy::Sampled)];
    expected.extend(between.iter().map(|&(at, how)| frame(at, how)));
    expected.extend([frame(IN_MAIN - 1, FoundBy::Cfi), frame(IN_ROOT - 1, FoundBy::Cfi)]);
    assert_eq!((chain, found_end), (expected, end));
}

const UNKNOWN: (u64, FoundBy) = (0, FoundBy::TailCalls);

const fn at(jump: u64) -> (u64, FoundBy) {
    (jump, FoundBy::TailCall)
}

#[test]
fn a_call_of_the_function_itself_adds_nothing() {
    check(&program().call(IN_MAIN, TEST), &[], EndReason::Root);
}

#[test]
fn the_only_path_is_shown_at_its_jumps() {
    // nop; jmp b
    let a = [&[0x90][..], &jump(A + 1, B)].concat();
    let program = function(function(program(), A, &a), B, &jump(B, TEST));
    check(&program, &[at(B), at(A + 1)], EndReason::Root);
    let (chain, end, profile) = profile(&program, false);
    assert_eq!((chain.len(), end, profile.summary.frames), (3, EndReason::Root, 3));
}

#[test]
fn frames_are_counted() {
    let program = function(program(), A, &jump(A, TEST));
    let (_, _, profile) = profile(&program, true);
    assert_eq!(profile.summary.frames, 4);
    let found = profile::query::found_counts(&profile);
    assert_eq!((found.with_tail_calls, found.with_unknown_tail_calls), (1, 0));
}

#[test]
fn two_jumps_of_one_function_show_the_function() {
    let a = [jump_if(A, TEST), jump(A + 6, TEST)].concat();
    let program = function(program(), A, &a);
    check(&program, &[at(A)], EndReason::Root);
    let (_, _, profile) = profile(&program, true);
    let whole: Vec<u64> =
        profile.locations.iter().filter(|row| row.is_whole).map(|row| row.relative).collect();
    assert_eq!(whole, [A - BASE]);
}

#[test]
fn of_several_paths_the_common_ends_are_shown() {
    // a: je b; jmp c. b and c: jmp d. d: jmp test.
    const D: u64 = C + 0x40;
    let a = [jump_if(A, B), jump(A + 6, C)].concat();
    let program = function(program(), A, &a);
    let program = function(function(program, B, &jump(B, D)), C, &jump(C, D));
    let program = function(program, D, &jump(D, TEST));
    check(&program, &[at(D), UNKNOWN, at(A)], EndReason::RootAcrossGap);
}

#[test]
fn a_function_that_returns_leads_nowhere() {
    let program = function(program(), A, RET);
    check(&program, &[UNKNOWN], EndReason::RootAcrossGap);
    let (_, _, profile) = profile(&program, true);
    let found = profile::query::found_counts(&profile);
    assert_eq!((found.with_tail_calls, found.with_unknown_tail_calls), (0, 1));
}

#[test]
fn a_jump_through_a_register_can_lead_anywhere() {
    // je test; jmp *%rax
    let a = [&jump_if(A, TEST)[..], &[0xff, 0xe0]].concat();
    check(&function(program(), A, &a), &[UNKNOWN, at(A)], EndReason::RootAcrossGap);
}

#[test]
fn a_switch_is_no_tail_call() {
    // push %rbx; jmp *%rax; pop %rbx; jmp test
    let a = [&[0x53, 0xff, 0xe0, 0x5b][..], &jump(A + 4, TEST)].concat();
    let cfi = ops().advance(1).def_cfa_offset(16).advance(3).def_cfa_offset(8);
    let program = program().function(A, a.len() as u64, cfi).code(A, &a);
    check(&program, &[at(A + 4)], EndReason::Root);
}

#[test]
fn jumps_in_a_circle_can_be_gone_several_times() {
    // a: jmp b. b: je a; jmp test.
    let b = [jump_if(B, A), jump(B + 6, TEST)].concat();
    let program = function(function(program(), A, &jump(A, B)), B, &b);
    check(&program, &[at(B + 6), UNKNOWN, at(A)], EndReason::RootAcrossGap);
}

#[test]
fn a_circle_that_does_not_lead_on_does_not_count() {
    // a: je b; jmp test. b: je c; ret. c: jmp b.
    let a = [jump_if(A, B), jump(A + 6, TEST)].concat();
    let b = [&jump_if(B, C)[..], RET].concat();
    let program = function(function(program(), A, &a), B, &b);
    let program = function(program, C, &jump(C, B));
    check(&program, &[at(A + 6)], EndReason::Root);
}

#[test]
fn a_part_with_a_frame_of_its_own_is_the_same_function() {
    // a: jmp test, which has a frame from its first instruction on.
    let test = ops().def_cfa_offset(8);
    let program = Program::with_main(Arch::X86_64, ops().def_cfa_offset(0x20), test)
        .call(IN_ROOT, MAIN)
        .call(IN_MAIN, A);
    let program = function(program, A, &jump(A, TEST + 0x20));
    check(&program, &[], EndReason::Root);
}

#[test]
fn a_call_through_a_register_can_reach_any_function() {
    let program = program().code(IN_MAIN - 5, &[0x90, 0x90, 0x90, 0xff, 0xd0]);
    check(&function(program, A, RET), &[], EndReason::Root);
}

#[test]
fn code_that_runs_into_the_next_function_goes_on_there() {
    // a: nop, and then b.
    let program = program().function(A, 0x40, ops());
    let program = function(program, B, &jump(B, TEST));
    check(&program, &[at(B), at(A + 0x3f)], EndReason::Root);
}

#[test]
fn the_dispatch_of_a_thunk_is_not_followed() {
    // call 1f; 0: pause; jmp 0b; 1: mov %rax,(%rsp); ret
    let a = [
        0xe8, 0x07, 0, 0, 0, 0xf3, 0x90, 0xeb, 0xfc, 0x90, 0x90, 0x90, 0x48, 0x89, 0x04, 0x24, 0xc3,
    ];
    check(&function(program(), A, &a), &[], EndReason::Root);
}
