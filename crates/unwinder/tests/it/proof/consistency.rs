//! Tests of files that contradict themselves: the contradiction is reported, and no chain through them counts as
//! complete.

use synth::{Section, UserRegs};
use unwinder::{Arch, EndReason};

use crate::world::{BASE, IN_MAIN, Program, SP, TEST, World, ops, outer, stack, usual};

/// Functions that begin with a push of rbp, as their descriptions state it.
const PUSHES: [u64; 4] = [0x1600, 0x1700, 0x1800, 0x1900];

/// A program with `test`, which has a frame of one word, and the other functions; `wrong` of these have no push in
/// their code.
fn program(wrong: usize) -> Program {
    let rows = || ops().advance(1).def_cfa_offset(16).offset(6, 2);
    let mut program = Program::new(Arch::X86_64, ops().def_cfa_offset(16));
    for (index, start) in PUSHES.into_iter().enumerate() {
        let first = if index < wrong { 0x90 } else { 0x55 };
        program = program.function(BASE + start, 0x10, rows()).code(BASE + start, &[first]);
    }
    program
}

/// Checks that the chain is the same despite the contradiction, and that it ends for this reason. Returns the reports.
fn check(world: &mut World, end: EndReason) -> Vec<String> {
    let mut stack = stack();
    outer(stack.word(1).word(IN_MAIN));
    let found = world.walk(&UserRegs::x86_64(TEST + 8, SP), &stack.bytes());
    assert_eq!(found, (usual(TEST + 8).to_vec(), end));
    world.engine.contradictions().into_iter().map(|(_, said)| said).collect()
}

#[test]
fn code_that_is_not_what_its_descriptions_state() {
    assert_eq!(check(&mut program(0).load(), EndReason::Root), [""; 0]);
    // Hand-written code can describe it in its own manner.
    assert_eq!(check(&mut program(2).load(), EndReason::Root), [""; 0]);
    let said = check(&mut program(3).load(), EndReason::UnprovenRoot);
    assert_eq!(
        said,
        [
            "its call frame information states that the instruction before 0x1601 moves the stack pointer by 8, which its code does not; 3 of 4 FDEs contradict the file"
        ]
    );
}

#[test]
fn a_section_that_is_not_where_its_segment_has_it() {
    let mut elf = program(0).elf();
    elf.sections
        .push(Section { offset: Some(0x1208), ..Section::loaded(".rodata", 0x1200, vec![0; 8]) });
    let said = check(&mut World::new(Arch::X86_64, &elf.build()), EndReason::UnprovenRoot);
    assert_eq!(
        said,
        [
            "its section .rodata is at offset 0x1208, but the program headers load its address from 0x1200"
        ]
    );
}

#[test]
fn a_table_that_does_not_lead_to_its_descriptions() {
    let mut elf = program(0).elf();
    for section in elf.sections.iter_mut().filter(|section| section.name == ".eh_frame_hdr") {
        // The addresses of the pairs, which stay sorted.
        for pair in section.bytes[12 + 8 * 3..].chunks_exact_mut(8) {
            pair[0] += 4;
        }
    }
    let said = check(&mut World::new(Arch::X86_64, &elf.build()), EndReason::UnprovenRoot);
    assert_eq!(
        said,
        [
            "the table of its call frame information lists an FDE for 0x1604, but it is for 0x1600; 4 of 4 FDEs contradict the file"
        ]
    );
}

#[test]
fn a_header_of_a_version_that_does_not_exist() {
    let mut elf = program(0).elf();
    for section in elf.sections.iter_mut().filter(|section| section.name == ".eh_frame_hdr") {
        section.bytes[0] = 2;
    }
    let said = check(&mut World::new(Arch::X86_64, &elf.build()), EndReason::UnprovenRoot);
    assert_eq!(
        said,
        ["the header of its call frame information, at offset 0x5000, has the unknown version 2"]
    );
}
