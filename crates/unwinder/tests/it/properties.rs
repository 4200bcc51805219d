//! Properties: for any registers, stack bytes and call frame information, a walk ends and states a reason.

use proptest::prelude::*;
use synth::{Endian, Section, StackBuilder, UserRegs};
use unwinder::{Arch, EndReason};

use crate::world::{
    BASE, EH_FRAME, FREE, HEADER, IN_MAIN, IN_ROOT, MAIN, Program, ROOT, SP, Sampled, TEST, ops,
};

const LIMIT: usize = 200;

/// Words that are valid addresses more often than random ones.
fn word() -> impl Strategy<Value = u64> {
    prop_oneof![
        3 => (0..0x600_u64).prop_map(|offset| BASE + 0x1000 + offset),
        3 => (-64..256_i64).prop_map(|words| SP.wrapping_add_signed(words * 8)),
        2 => prop::sample::select(vec![0, 1, IN_MAIN, IN_ROOT, MAIN, TEST, ROOT, FREE, u64::MAX, SP + 4]),
        1 => any::<u64>(),
    ]
}

fn arch() -> impl Strategy<Value = Arch> {
    prop_oneof![Just(Arch::X86_64), Just(Arch::Aarch64), Just(Arch::X86)]
}

fn regs(arch: Arch, values: &[u64]) -> UserRegs {
    let (regs, sp, pc) = match arch {
        Arch::X86_64 => (UserRegs::x86_64(0, 0), 7, 8),
        Arch::X86 => (UserRegs::x86(0, 0), 7, 8),
        _ => (UserRegs::aarch64(0, 0), 31, 32),
    };
    let with = |regs: UserRegs, (bit, &value): (u32, &u64)| regs.set(bit, value);
    let regs = (0..).zip(values).fold(regs, with);
    // Half of the stack pointers are at the recorded bytes.
    let sp_value = if values[0].is_multiple_of(2) { SP } else { values[1] };
    regs.set(sp, sp_value).set(pc, values[2])
}

fn stack_of(words: &[u64]) -> Vec<u8> {
    let mut stack = StackBuilder::new(SP, Endian::Little, 8);
    words.iter().for_each(|&word| {
        stack.word(word);
    });
    stack.bytes()
}

/// A program with rows of many kinds.
fn program(arch: Arch) -> Program {
    let le = || synth::DwarfExpr::new(Endian::Little);
    let (fp, sp) = match arch {
        Arch::X86_64 => (6, 7),
        Arch::X86 => (5, 4),
        _ => (29, 31),
    };
    Program::new(arch, ops().def_cfa(fp, 16).offset(fp, 2))
        .function(TEST + 0x100, 0x40, ops().def_cfa_expression(&le().breg(sp, 8).deref()))
        .function(
            TEST + 0x140,
            0x40,
            ops().def_cfa(3, 0).val_expression(3, &le().breg(3, 0).deref()),
        )
        .function(TEST + 0x180, 0x40, ops().register(fp, 3).expression(3, &le().breg(fp, -8)))
        .function(TEST + 0x1c0, 0x40, ops().def_cfa_expression(&le().skip(-3)))
}

fn check(frames: usize, end: EndReason) -> Result<(), TestCaseError> {
    prop_assert!(frames <= LIMIT);
    prop_assert!(frames > 0 || end == EndReason::NoUserRegs);
    prop_assert!(end != EndReason::MaxFrames || frames == LIMIT);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_stacks_end(
        arch in arch(),
        values in prop::collection::vec(word(), 33),
        words in prop::collection::vec(word(), 0..200),
        how in prop::sample::select(&[Sampled::Usual, Sampled::InKernel, Sampled::Executed][..]),
    ) {
        let mut world = program(arch).load();
        world.max_frames = LIMIT;
        let (frames, end) = world.walk_as(&regs(arch, &values), &stack_of(&words), how);
        check(frames.len(), end)?;
        // A walk is a pure function.
        let again = world.walk_as(&regs(arch, &values), &stack_of(&words), how);
        prop_assert_eq!((frames, end), again);
    }

    #[test]
    fn random_call_frame_instructions_end(
        arch in arch(),
        bytes in prop::collection::vec(any::<u8>(), 0..40),
        values in prop::collection::vec(word(), 33),
        words in prop::collection::vec(word(), 0..100),
    ) {
        let program = Program::with_main(arch, ops().raw(&bytes), ops().raw(&bytes));
        let mut world = program.load();
        world.max_frames = LIMIT;
        let regs = regs(arch, &values).set(if arch == Arch::Aarch64 { 32 } else { 8 }, TEST);
        let (frames, end) = world.walk(&regs, &stack_of(&words));
        check(frames.len(), end)?;
    }

    #[test]
    fn random_sections_end(
        frame in prop::collection::vec(any::<u8>(), 0..300),
        mut header in prop::collection::vec(any::<u8>(), 0..100),
        good_start in any::<bool>(),
        values in prop::collection::vec(word(), 33),
        words in prop::collection::vec(word(), 0..100),
    ) {
        if good_start && header.len() >= 12 {
            header[..4].copy_from_slice(&[1, 0x1b, 3, 0x3b]);
            header[8..12].copy_from_slice(&[5, 0, 0, 0]);
        }
        let mut program = Program::empty(Arch::X86_64);
        program.sections.push(Section::loaded(".eh_frame", EH_FRAME, frame.clone()));
        program.sections.push(Section::loaded(".eh_frame_hdr", HEADER, header));
        program.sections.push(Section::new(".debug_frame", 1, frame));
        let mut world = program.load();
        world.max_frames = LIMIT;
        let (frames, end) = world.walk(&regs(Arch::X86_64, &values), &stack_of(&words));
        check(frames.len(), end)?;
    }
}
