//! Tests of i386: words of four bytes, its own register numbers, hand-written code with wrong CFI, signals.

use synth::{CfiOps, DwarfExpr, Endian, StackBuilder, UserRegs, x86_64_reg as reg};
use unwinder::{Arch, EndReason, FoundBy};

use crate::world::{FREE, IN_MAIN, IN_ROOT, MAIN, Program, SP, TEST, World, ops};

const CFI: FoundBy = FoundBy::Cfi;
const ESP: u64 = 4;
const EBP: u64 = 5;

fn stack() -> StackBuilder {
    StackBuilder::new(SP, Endian::Little, 4)
}

fn regs(pc: u64) -> UserRegs {
    UserRegs::x86(pc as u32, SP as u32)
}

/// The frame of `main`, which has 0x20 bytes.
fn outer(stack: &mut StackBuilder) -> &mut StackBuilder {
    stack.words(0, 7).word(IN_ROOT)
}

/// A program: `test` with these rows, and the calls of it and of `main` before their return addresses.
fn program(test: CfiOps) -> Program {
    with_calls(Program::new(Arch::X86, test))
}

fn with_calls(program: Program) -> Program {
    program.call(IN_MAIN, TEST).call(IN_ROOT, MAIN)
}

fn chain(pc: u64, found_by: FoundBy) -> Vec<(u64, FoundBy)> {
    vec![(pc, FoundBy::Sampled), (IN_MAIN - 1, found_by), (IN_ROOT - 1, CFI)]
}

#[test]
fn by_call_frame_information() {
    let mut stack = stack();
    outer(stack.word(1).word(IN_MAIN));
    let pc = TEST + 4;
    program(ops().def_cfa_offset(8)).check(&regs(pc), &stack, &chain(pc, CFI), EndReason::Root);
}

/// The upper halves of the registers do not belong to a 32-bit process.
#[test]
fn upper_halves_are_nothing() {
    let mut stack = stack();
    outer(stack.word(IN_MAIN));
    let pc = TEST + 4;
    let regs = UserRegs::x86_64(pc | 7 << 32, SP | 5 << 32);
    program(ops()).check(&regs, &stack, &chain(pc, CFI), EndReason::Root);
}

/// `main` counts its frame from ebp, which `test` saved next to its return address.
#[test]
fn saved_registers_have_slots_of_four_bytes() {
    let main = ops().def_cfa(EBP, 8);
    let test = ops().def_cfa_offset(12).offset(EBP, 2);
    let program = with_calls(Program::with_main(Arch::X86, main, test));
    let mut stack = stack();
    stack.word(7).word_of_label("ebp").word(IN_MAIN).words(0, 3);
    stack.label("ebp").word(0).word(IN_ROOT);
    let pc = TEST + 4;
    program.check(&regs(pc).set(reg::BP, 5), &stack, &chain(pc, CFI), EndReason::Root);
}

/// As GCC aligns the stack of `main`: the word below ebp is its CFA.
#[test]
fn an_expression_reads_four_bytes() {
    let main = ops().def_cfa_expression(&DwarfExpr::new(Endian::Little).breg(5, -4).deref());
    let program = with_calls(Program::with_main(Arch::X86, main, ops()));
    let mut stack = stack();
    stack.word(IN_MAIN).word(0).word_of_label("cfa").label("ebp").word(0).words(1, 3);
    stack.word(IN_ROOT).label("cfa").word(9);
    let pc = TEST + 4;
    let regs = regs(pc).set(reg::BP, stack.address("ebp"));
    program.check(&regs, &stack, &chain(pc, CFI), EndReason::Root);
}

/// The last four bytes of a dump are a word; the next word is past its end.
#[test]
fn where_the_dump_ends() {
    let mut cut = stack();
    cut.word(1).word(IN_MAIN);
    let pc = TEST + 4;
    let found = [(pc, FoundBy::Sampled), (IN_MAIN - 1, CFI)];
    let program = program(ops().def_cfa_offset(8));
    program.check(&regs(pc), &cut, &found, EndReason::StackExhausted);
}

/// push %ebx; nop; nop; pop %ebx; ret
const PUSHES: [u8; 5] = [0x53, 0x90, 0x90, 0x5b, 0xc3];

/// `memcpy` of glibc pushes a register that its description does not state, and `strchr` has a CFA with the wrong sign:
/// the code is followed.
#[test]
fn descriptions_that_state_no_caller() {
    for wrong in [ops(), ops().def_cfa(ESP, 0)] {
        let program = program(wrong).code(TEST, &PUSHES);
        let mut stack = stack();
        // Even a zero is not a root if the code contradicts it.
        outer(stack.word(0).word(IN_MAIN));
        let pc = TEST + 2;
        program.check(&regs(pc), &stack, &chain(pc, FoundBy::Code), EndReason::Root);
    }
}

/// A switch of hand-written code: the address of the next instruction, a table at a distance, a jump.
#[test]
fn code_that_learns_where_it_is() {
    const THUNK: u64 = FREE + 0x200;
    const TABLE: u64 = FREE + 0x300;
    let distance = |to: u64, from: u64| (to.wrapping_sub(from) as u32).to_le_bytes();
    let code = [
        &[0x53, 0x50, 0xe8][..], // push %ebx; push %eax; call
        &distance(THUNK, TEST + 7),
        &[0x81, 0xc3], // add $distance, %ebx
        &distance(TABLE, TEST + 7),
        &[0x03, 0x1c, 0x8b, 0xff, 0xe3], // add (%ebx,%ecx,4),%ebx; jmp *%ebx
    ]
    .concat();
    let program = program(ops())
        .code(TEST, &code)
        .code(TEST + 0x20, &[0x58, 0x5b, 0xc3]) // pop %eax; pop %ebx; ret
        .code(THUNK, &[0x8b, 0x1c, 0x24, 0xc3]) // mov (%esp),%ebx; ret
        .code(TABLE, &distance(TEST + 0x20, TABLE).repeat(4));
    let mut stack = stack();
    outer(stack.word(0x12).word(0x34).word(IN_MAIN));
    let pc = TEST + 2;
    program.check(&regs(pc), &stack, &chain(pc, FoundBy::Code), EndReason::Root);
}

/// Handlers return to `__kernel_sigreturn` or `__kernel_rt_sigreturn`, recognized by their code.
#[test]
fn signals() {
    const HANDLER: u64 = FREE + 0x100;
    let forms: [(&[u8], usize); 2] = [
        (&[0x58, 0xb8, 0x77, 0, 0, 0, 0xcd, 0x80], 1),
        (&[0xb8, 0xad, 0, 0, 0, 0xcd, 0x80], 3 + 128 / 4 + 5),
    ];
    for (code, before) in forms {
        let program = program(ops().def_cfa_offset(8));
        let program = program.function(HANDLER, 0x10, ops()).code(FREE, code);
        let pc = TEST + 4;
        let mut stack = stack();
        stack.word(FREE).words(0xcc, before).words(0xdd, 7).word_of_label("interrupted");
        stack.words(0xdd, 6).word(pc).words(0xee, 9).label("interrupted");
        outer(stack.word(1).word(IN_MAIN));
        let outer = chain(pc, CFI).into_iter().map(|(at, _)| (at, CFI));
        let found: Vec<_> =
            [(HANDLER, FoundBy::Sampled), (FREE, CFI)].into_iter().chain(outer).collect();
        program.check(&regs(HANDLER), &stack, &found, EndReason::Root);
    }
}

/// Files for processes of the other word size give no rules: words of four bytes would be read as eight.
#[test]
fn files_of_the_other_size_have_no_rules() {
    for (of_file, of_sample) in [(Arch::X86_64, Arch::X86), (Arch::X86, Arch::X86_64)] {
        let elf = with_calls(Program::new(of_file, ops())).elf().build();
        let pc = TEST + 4;
        let found = World::new(of_sample, &elf).walk(&regs(pc), &stack().word(3).bytes());
        assert_eq!(found, (vec![(pc, FoundBy::Sampled)], EndReason::NoUnwindInfo));
    }
}
