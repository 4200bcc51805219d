//! Processes of another architecture than their machine: the interpretation of their registers.

use synth::{
    CfiOps, Endian, EventAttr, Feature, PerfDataBuilder, SampleBuilder, StackBuilder, UserRegs,
    aarch64_reg,
};
use unwinder::{Arch, EndReason, FoundBy};

use crate::replayed::{Seen, map, replay};
use crate::world::{BASE, IN_MAIN, IN_ROOT, Program, SP, TEST, ops};

const USER: [Seen; 3] = [
    (TEST - BASE, FoundBy::Sampled, false),
    (IN_MAIN - 1 - BASE, FoundBy::Cfi, false),
    (IN_ROOT - 1 - BASE, FoundBy::Cfi, false),
];

/// Rules of `test`, which has saved lr, called by `main`.
fn rows() -> CfiOps {
    ops().def_cfa_offset(8).offset(14, 1)
}

/// The stack of `test` and `main`; addresses of Thumb code are odd.
fn stack() -> StackBuilder {
    let mut stack = StackBuilder::new(SP, Endian::Little, 4);
    stack.word(7).word(IN_MAIN | 1).word(0).word(IN_ROOT).words(0, 6);
    stack
}

/// Replays a sample with 32-bit registers on a machine of that name.
fn check(machine: &str, mask: u64, regs: &[u64], frames: &[Seen], end: EndReason) {
    let world = Program::new(Arch::Arm, rows()).load();
    let mut data = PerfDataBuilder::new(Endian::Little);
    data.event("cpu-clock", EventAttr::dwarf(mask), &[]);
    data.feature(&Feature::Arch(machine));
    map(&mut data, &world);
    let sample = SampleBuilder { misc: 2, ..SampleBuilder::at(TEST, 7, 7, 10) };
    data.sample(&sample.with_regs_of_32_bits(regs).with_stack(&stack().bytes()));
    let found = replay(data.build(), world.files());
    let found: Vec<_> = found.into_iter().map(|(_, frames, end)| (frames, end)).collect();
    assert_eq!(found, [(frames.to_vec(), end)]);
}

#[test]
fn arm_on_a_machine_of_its_own() {
    let regs = UserRegs::arm(TEST as u32, SP as u32);
    check("armv7l", regs.usual_mask(), &regs.usual_values(), &USER, EndReason::Root);
}

/// There, sp, lr and pc of the process are in the machine's own registers for them.
/// An older kernel leaves an unrelated value in the place of r15.
#[test]
fn arm_on_an_aarch64_machine() {
    let regs = UserRegs::aarch64(TEST, SP).set(aarch64_reg::LR, 1).set(13, SP).set(15, 0x1234);
    check("aarch64", regs.usual_mask(), &regs.usual_values(), &USER, EndReason::Root);
}

#[test]
fn a_processor_that_is_not_known() {
    let one = [(TEST - BASE, FoundBy::Sampled, false)];
    check("mips", 0xffff, &[0; 16], &one, EndReason::UnsupportedAbi);
}
