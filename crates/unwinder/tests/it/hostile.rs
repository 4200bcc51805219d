//! Tests of files that are made to be expensive, on x86-64: their resources are limited, and results within the limits
//! are unchanged.

use budget::{Budget, Limit, Resource};
use synth::{CfiOps, Cie, DwarfExpr, Endian, UserRegs};
use unwinder::{Arch, EndReason, Engine, FoundBy};

use crate::world::{IN_MAIN, MAIN, Program, SP, TEST, ops, outer, stack, usual};

const RSP: u64 = 7;
const NOTHING: Limit = Limit { base: 0, per_byte: 0, most: 0 };

/// Many instructions before the effective ones: a push at 0x10, a pop at 0x20.
fn long_rows(n: usize) -> CfiOps {
    let rows = ops().raw(&vec![0; n]).advance(0x10).def_cfa_offset(16);
    rows.advance(0x10).def_cfa_offset(8)
}

#[test]
fn the_rows_of_long_descriptions() {
    for n in [100, 2_000, 5_000, 40_000] {
        let mut world = Program::new(Arch::X86_64, long_rows(n)).load();
        for (at, words) in [(0, 0), (0xf, 0), (0x10, 1), (0x1f, 1), (0x20, 0), (0xff, 0)] {
            let mut stack = stack();
            outer(stack.words(1, words).word(IN_MAIN));
            let found = world.walk(&UserRegs::x86_64(TEST + at, SP), &stack.bytes());
            assert_eq!(found, (usual(TEST + at).to_vec(), EndReason::Root), "{n} {at:#x}");
        }
        assert_eq!(world.engine.exhausted(), []);
    }
}

#[test]
fn the_instructions_of_a_file_are_counted() {
    let mut world = Program::new(Arch::X86_64, long_rows(5_000)).load();
    world.engine =
        Engine::with_budget(Budget::default().with(Resource::FrameInstructions, NOTHING));
    let mut stack = stack();
    outer(stack.word(IN_MAIN));
    let (frames, end) = world.walk(&UserRegs::x86_64(TEST, SP), &stack.bytes());
    assert_eq!((frames, end), (usual(TEST)[..1].to_vec(), EndReason::BadUnwindInfo));
    let exhausted = world.engine.exhausted();
    assert_eq!(exhausted.len(), 1);
    assert_eq!(exhausted[0].1.to_string(), "more than 0 instructions of call frame information");
    // Other descriptions of the file are short.
    let (frames, end) = world.walk(&UserRegs::x86_64(MAIN, SP), &outer_of_main());
    assert_eq!((frames.len(), end), (2, EndReason::Root));
}

fn outer_of_main() -> Vec<u8> {
    let mut stack = stack();
    stack.words(1, 3).word(crate::world::IN_ROOT);
    stack.bytes()
}

/// A row with an expression of 20,000 bytes, queried at 200 addresses, is stored once.
#[test]
fn addresses_share_their_row() {
    let padding = (0..20_000).fold(DwarfExpr::new(Endian::Little), |it, _| it.op(0x96));
    let short = DwarfExpr::new(Endian::Little).breg(RSP, 8);
    let long = padding.breg(RSP, 8);
    for (expression, end) in [(short, EndReason::Root), (long, EndReason::BadUnwindInfo)] {
        let rows = ops().def_cfa_expression(&expression);
        let mut world = Program::new(Arch::X86_64, rows).load();
        let room = Limit { base: 4096, per_byte: 0, most: 4096 };
        world.engine = Engine::with_budget(Budget::default().with(Resource::RuleBytes, room));
        for at in 0..200 {
            let mut stack = stack();
            outer(stack.word(IN_MAIN));
            let found = world.walk(&UserRegs::x86_64(TEST + at, SP), &stack.bytes());
            assert_eq!(found.1, end);
        }
        assert_eq!(world.engine.exhausted(), []);
    }
}

/// The stored rows depend on the order of queries; the results do not.
#[test]
fn rows_that_are_not_kept_are_made_again() {
    let expression = DwarfExpr::new(Endian::Little).breg(RSP, 8);
    for n in [0, 5_000] {
        let rows = ops().raw(&vec![0; n]).def_cfa_expression(&expression);
        let mut world = Program::new(Arch::X86_64, rows).load();
        world.engine = Engine::with_budget(Budget::default().with(Resource::RuleBytes, NOTHING));
        let mut stack = stack();
        outer(stack.word(IN_MAIN));
        for _ in 0..2 {
            let found = world.walk(&UserRegs::x86_64(TEST, SP), &stack.bytes());
            assert_eq!(found, (usual(TEST).to_vec(), EndReason::Root));
        }
        assert_eq!(world.engine.exhausted(), []);
    }
}

/// The usual program without the tested function.
fn with_main() -> Program {
    Program::empty(Arch::X86_64).root().function(MAIN, 0x100, ops().def_cfa_offset(0x20))
}

/// Rows of a long description, each with its own expression: the first ones are within the limit, regardless of the
/// order of queries.
#[test]
fn the_full_rows_of_a_long_description_are_its_first() {
    let mut rows = ops();
    for _ in 0..4_000 {
        rows = rows.def_cfa_expression(&DwarfExpr::new(Endian::Little).breg(RSP, 8)).advance(1);
    }
    let program = with_main();
    let program = program.function_of(TEST, 0x2000, Cie::x86_64(), rows);
    let ends = |addresses: [u64; 3]| {
        let mut world = program.load();
        let mut stack = stack();
        outer(stack.word(IN_MAIN));
        let ends = addresses.map(|at| {
            world.walk(&UserRegs::x86_64(TEST + at, SP), &stack.bytes()).1 == EndReason::Root
        });
        let exhausted = world.engine.exhausted();
        let resource = exhausted.first().map(|(_, exhausted)| exhausted.resource);
        (ends, resource)
    };
    assert_eq!(ends([0, 100, 3_999]), ([true, true, false], Some(Resource::RuleBytes)));
    assert_eq!(ends([3_999, 100, 0]), ([false, true, true], Some(Resource::RuleBytes)));
}

/// The first long descriptions in the file are run, regardless of the order of queries.
#[test]
fn the_first_long_descriptions_of_a_file_are_run() {
    let mut program = with_main();
    for number in 0..4 {
        let at = TEST + number * 0x100;
        program = program.function_of(at, 0x100, Cie::x86_64(), long_rows(5_000));
    }
    let ends = |order: [u64; 4]| {
        let mut world = program.load();
        let room = Limit { base: 11_000, per_byte: 0, most: 11_000 };
        world.engine =
            Engine::with_budget(Budget::default().with(Resource::FrameInstructions, room));
        let mut stack = stack();
        outer(stack.word(IN_MAIN));
        let mut ends = [false; 4];
        for number in order {
            let at = TEST + number * 0x100;
            let (_, end) = world.walk(&UserRegs::x86_64(at, SP), &stack.bytes());
            ends[number as usize] = end == EndReason::Root;
        }
        ends
    };
    assert_eq!(ends([0, 1, 2, 3]), [true, true, false, false]);
    assert_eq!(ends([3, 2, 1, 0]), [true, true, false, false]);
}

/// The common instructions are run again for each description.
#[test]
fn long_common_information_is_not_run() {
    let padded = Cie::x86_64().instructions.into_iter().chain([0; 10_000]).collect();
    let cie = Cie { instructions: padded, ..Cie::x86_64() };
    let program = with_main();
    let mut world = program.function_of(TEST, 0x100, cie, ops()).load();
    let mut stack = stack();
    outer(stack.word(IN_MAIN));
    let (_, end) = world.walk(&UserRegs::x86_64(TEST, SP), &stack.bytes());
    assert_eq!(end, EndReason::BadUnwindInfo);
    assert_eq!(world.engine.exhausted()[0].1.resource, Resource::FrameInstructions);
}

/// Expressions have a limit on operations per walk, not only per row: each of 30 frames has 16 of 60.
#[test]
fn the_operations_of_a_walk_are_counted() {
    let busy = (0..60).fold(DwarfExpr::new(Endian::Little), |it, _| it.op(0x96)).breg(RSP, 8);
    let mut rows = ops().def_cfa_expression(&busy);
    for register in 0..6 {
        rows = rows.val_expression(register, &busy);
    }
    let program = Program::new(Arch::X86_64, rows);
    let mut world = program.load();
    let mut stack = stack();
    outer(stack.words(TEST + 0x20, 30).word(IN_MAIN));
    let (frames, end) = world.walk(&UserRegs::x86_64(TEST, SP), &stack.bytes());
    assert_eq!(end, EndReason::BadUnwindInfo);
    assert!((2..30).contains(&frames.len()), "{}", frames.len());
}

#[test]
fn an_augmentation_without_end_is_none() {
    let cie = Cie { augmentation: "S".repeat(1_000), ..Cie::x86_64() };
    let program = Program::empty(Arch::X86_64).root().function_of(TEST, 0x100, cie, ops());
    let mut stack = stack();
    outer(stack.word(IN_MAIN));
    let (_, end) = program.load().walk(&UserRegs::x86_64(TEST, SP), &stack.bytes());
    assert_eq!(end, EndReason::BadUnwindInfo);
}

/// A signal frame that interrupted its own function, with the same stack pointer.
fn signal_program(offset: u64) -> Program {
    let cie = Cie { augmentation: "zRS".to_owned(), ..Cie::x86_64() };
    let rows = ops().def_cfa(RSP, offset).offset_sf(16, -1);
    Program::empty(Arch::X86_64).root().function_of(TEST, 0x100, cie, rows)
}

#[test]
fn a_signal_frame_that_does_not_move_ends_the_chain() {
    let mut world = signal_program(0).load();
    world.max_frames = usize::MAX;
    let mut stack = stack();
    stack.word(1).word(TEST).words(1, 4);
    let found = world.walk(&UserRegs::x86_64(TEST, SP), &stack.bytes());
    assert_eq!(found, (vec![(TEST, FoundBy::Sampled)], EndReason::NoProgress));
}

#[test]
fn no_limit_of_frames_is_no_small_one() {
    let mut world = Program::new(Arch::X86_64, ops()).load();
    world.max_frames = usize::MAX;
    let mut stack = stack();
    outer(stack.words(TEST + 0x20, 300).word(IN_MAIN));
    let (frames, end) = world.walk(&UserRegs::x86_64(TEST, SP), &stack.bytes());
    assert_eq!((frames.len(), end), (303, EndReason::Root));
}
