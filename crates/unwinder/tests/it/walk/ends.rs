//! Tests of end reasons, mostly on x86-64.

use synth::{UserRegs, x86_64_reg as reg};
use unwinder::{Arch, EndReason, FoundBy};

use crate::world::{
    IN_MAIN, IN_ROOT, MAIN, Program, SP, Sampled, TEST, World, ops, outer, stack, usual,
};

fn simple() -> Program {
    Program::new(Arch::X86_64, ops().def_cfa_offset(16))
}

#[test]
fn the_stack_bytes_are_used_up() {
    let mut full = stack();
    outer(full.word(1).word(IN_MAIN));
    let bytes = full.bytes();
    let regs = UserRegs::x86_64(TEST, SP);
    let mut world = simple().load();
    for (len, frames) in [(48, 3), (47, 2), (40, 2), (16, 2), (15, 1), (8, 1), (0, 1)] {
        let end = if frames == 3 { EndReason::Root } else { EndReason::StackExhausted };
        let found = world.walk(&regs, &bytes[..len]);
        assert_eq!(found, (usual(TEST)[..frames].to_vec(), end), "{len} bytes");
    }
}

#[test]
fn far_past_the_bytes_is_another_stack() {
    let program = Program::new(Arch::X86_64, ops().def_cfa(3, 16));
    let one = [(TEST, FoundBy::Sampled)];
    let ends = [
        (SP + 0x1000, EndReason::StackExhausted),
        (SP + (1 << 30), EndReason::OtherStack),
        (SP - 0x100, EndReason::OtherStack),
    ];
    for (rbx, end) in ends {
        let regs = UserRegs::x86_64(TEST, SP).set(reg::BX, rbx);
        program.check(&regs, stack().words(1, 4), &one, end);
    }
}

#[test]
fn a_frame_that_is_its_own_caller() {
    // `main` counts from rbp, which no function changes: it would be its own caller forever.
    let main = ops().def_cfa(6, 16);
    let program = Program::with_main(Arch::X86_64, main, ops());
    let mut stack = stack();
    stack.word(IN_MAIN).label("rbp").word(0).word(IN_MAIN).words(0, 4);
    let regs = UserRegs::x86_64(TEST, SP).set(reg::BP, stack.address("rbp"));
    let again = (IN_MAIN - 1, FoundBy::Cfi);
    program.check(&regs, &stack, &[(TEST, FoundBy::Sampled), again, again], EndReason::NoProgress);
}

#[test]
fn a_frame_below_its_callee() {
    let main = ops().def_cfa(6, 16);
    let program = Program::with_main(Arch::X86_64, main, ops().def_cfa_offset(0x20));
    let mut stack = stack();
    stack.words(1, 3).word(IN_MAIN).words(0, 4);
    let regs = UserRegs::x86_64(TEST, SP).set(reg::BP, SP);
    program.check(&regs, &stack, &usual(TEST)[..2], EndReason::NoProgress);
}

#[test]
fn the_limit_of_frames() {
    // main calls main calls main …
    let mut stack = stack();
    for _ in 0..40 {
        stack.word(IN_MAIN).words(0, 3);
    }
    let mut world = Program::new(Arch::X86_64, ops()).load();
    for limit in [1, 2, 17] {
        world.max_frames = limit;
        let (frames, end) = world.walk(&UserRegs::x86_64(TEST, SP), &stack.bytes());
        assert_eq!((frames.len(), end), (limit, EndReason::MaxFrames));
    }
    world.max_frames = 1000;
    let (frames, end) = world.walk(&UserRegs::x86_64(TEST, SP), &stack.bytes());
    assert_eq!((frames.len(), end), (41, EndReason::StackExhausted));
}

#[test]
fn a_return_address_where_nothing_is_mapped() {
    let mut stack = stack();
    stack.word(1).word(0x1234_5678).words(0, 4);
    let one = [(TEST, FoundBy::Sampled)];
    simple().check(&UserRegs::x86_64(TEST, SP), &stack, &one, EndReason::NotMapped);
}

#[test]
fn a_return_address_in_data() {
    let one = [(TEST, FoundBy::Sampled)];
    for data in [0x40_6000, SP + 8] {
        let mut stack = stack();
        stack.word(1).word(data).words(0, 4);
        simple().check(&UserRegs::x86_64(TEST, SP), &stack, &one, EndReason::NotMapped);
    }
}

#[test]
fn the_sampled_address_is_kept_where_nothing_is_mapped() {
    let one = [(0x77_0000, FoundBy::Sampled)];
    simple().check(&UserRegs::x86_64(0x77_0000, SP), &stack(), &one, EndReason::NotMapped);
}

#[test]
fn code_in_memory_without_a_file() {
    let mut world = simple().load();
    world.map(0x60_0000, 0x1000, 0, b"//anon", [true, false]);
    let (frames, end) = world.walk(&UserRegs::x86_64(0x60_0010, SP), &stack().words(1, 8).bytes());
    assert_eq!(frames, [(0x60_0010, FoundBy::Sampled)]);
    assert_eq!(end, EndReason::AnonymousMemory);
}

#[test]
fn code_of_a_file_that_is_gone() {
    let mut world = simple().load();
    world.map(0x60_0000, 0x1000, 0, b"/nonexistent/lib.so", [true, false]);
    let (frames, end) = world.walk(&UserRegs::x86_64(0x60_0010, SP), &stack().words(1, 8).bytes());
    assert_eq!(frames, [(0x60_0010, FoundBy::Sampled)]);
    assert_eq!(end, EndReason::NoModule);
}

#[test]
fn a_file_of_a_processor_that_is_not_unwound() {
    let program = simple();
    const EM_MIPS: u16 = 8;
    let elf = synth::ElfBuilder { e_machine: EM_MIPS, ..program.elf() };
    let mut world = World::new(Arch::X86_64, &elf.build());
    let (frames, end) = world.walk(&UserRegs::x86_64(TEST, SP), &stack().words(1, 8).bytes());
    assert_eq!((frames.len(), end), (1, EndReason::NoUnwindInfo));
}

#[test]
fn kernel_mode_samples_do_not_know_the_saved_registers() {
    // rbx of -1 in a kernel sample means that it was not saved; r10 of -1 means -1.
    let program = Program::with_main(Arch::X86_64, ops().def_cfa(3, 0x20), ops());
    let mut stack = stack();
    outer(stack.word(IN_MAIN));
    let mut world = program.load();
    let unknown = UserRegs::x86_64(TEST, SP).set(reg::BX, u64::MAX);
    let (frames, end) = world.walk_as(&unknown, &stack.bytes(), Sampled::InKernel);
    assert_eq!((frames, end), (usual(TEST)[..2].to_vec(), EndReason::RegisterUnknown));
    let (frames, end) = world.walk_as(&unknown, &stack.bytes(), Sampled::Usual);
    assert_eq!((frames, end), (usual(TEST)[..2].to_vec(), EndReason::MemoryNotRecorded));
    let known = UserRegs::x86_64(TEST, SP).set(reg::BX, SP + 8);
    let (frames, end) = world.walk_as(&known, &stack.bytes(), Sampled::InKernel);
    assert_eq!((frames, end), (usual(TEST).to_vec(), EndReason::Root));
}

#[test]
fn entry_code_without_information_is_the_root() {
    // The loader's `_start`: no description from the entry point on; it calls `main` at +8.
    let mut program = Program::empty(Arch::X86_64).function(MAIN, 0x100, ops().def_cfa_offset(16));
    program.entry = crate::world::ROOT - crate::world::BASE;
    let mut stack = stack();
    stack.word(1).word(IN_ROOT).words(0, 4);
    let frames = [(MAIN, FoundBy::Sampled), (IN_ROOT - 1, FoundBy::Cfi)];
    program.check(&UserRegs::x86_64(MAIN, SP), &stack, &frames, EndReason::Root);
}

#[test]
fn a_processor_that_is_not_unwound() {
    let mut world = Program::empty(Arch::Mips).load();
    let regs = UserRegs::x86_64(TEST, SP);
    assert_eq!(world.walk(&regs, &[0; 64]), (Vec::new(), EndReason::UnsupportedAbi));
}
