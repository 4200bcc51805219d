//! Tests of callers by x86-64 instructions, without usable call frame information: by the code up to the function's
//! return, and by the call before the return address.

use budget::{Budget, Limit, Resource};
use synth::{DwarfExpr, Endian, UserRegs, x86_64_reg as reg};
use unwinder::{Arch, EndReason, Engine, FoundBy};

use crate::world::{FREE, IN_MAIN, IN_ROOT, MAIN, Program, SP, TEST, ops, outer, stack};

/// Return address of a call in `free`.
const IN_FREE: u64 = FREE + 0x20;

/// `root` calls `main`, which calls `free`, which calls `test`. `code` follows the call in `free`, and a return
/// precedes `free`.
fn program(code: &[u8]) -> Program {
    Program::new(Arch::X86_64, ops())
        .call(IN_ROOT, MAIN)
        .call(IN_MAIN, FREE)
        .code(FREE - 1, &[0xc3])
        .call(IN_FREE, TEST)
        .code(IN_FREE, code)
}

fn chain(found_by: FoundBy) -> [(u64, FoundBy); 4] {
    [
        (TEST, FoundBy::Sampled),
        (IN_FREE - 1, FoundBy::Cfi),
        (IN_MAIN - 1, found_by),
        (IN_ROOT - 1, FoundBy::Cfi),
    ]
}

#[test]
fn all_ways_to_the_return_agree() {
    // test %eax,%eax; je 1f; add $0x18,%rsp; pop %rbx; ret; 1: lea 0x18(%rsp),%rsp; pop %rbx; ret
    let code = [
        0x85, 0xc0, 0x74, 0x06, 0x48, 0x83, 0xc4, 0x18, 0x5b, 0xc3, 0x48, 0x8d, 0x64, 0x24, 0x18,
        0x5b, 0xc3,
    ];
    let mut stack = stack();
    outer(stack.word(IN_FREE).words(0, 3).word(0xb).word(IN_MAIN));
    let regs = UserRegs::x86_64(TEST, SP);
    program(&code).check(&regs, &stack, &chain(FoundBy::Code), EndReason::Root);
}

#[test]
fn what_may_be_looked_at_has_an_end() {
    let limit = Limit { base: 0, per_byte: 0, most: 0 };
    let mut world = program(&[0x48, 0x83, 0xc4, 0x08, 0xc3]).load();
    let mut stack = stack();
    outer(stack.word(IN_FREE).word(0).word(IN_MAIN));
    let regs = UserRegs::x86_64(TEST, SP);
    let (frames, end) = world.walk(&regs, &stack.bytes());
    assert_eq!((frames, end), (chain(FoundBy::Code).to_vec(), EndReason::Root));
    let budget = Budget::default().with(Resource::CodeInstructions, limit);
    world.engine = Engine::with_budget(budget);
    let (frames, end) = world.walk(&regs, &stack.bytes());
    // The start of the thread is known without this code.
    let mut expected = chain(FoundBy::Code);
    (expected[2], expected[3].1) = ((0, FoundBy::Gap), FoundBy::Scan);
    assert_eq!((frames, end), (expected.to_vec(), EndReason::RootAcrossGap));
}

#[test]
fn a_saved_register_is_restored() {
    // `main` counts its frame from rbp, which `free` has saved: pop %rbp; ret.
    let main = ops().def_cfa(6, 0x20);
    let program = Program::with_main(Arch::X86_64, main, ops())
        .call(IN_ROOT, MAIN)
        .call(IN_MAIN, FREE)
        .code(FREE - 1, &[0xc3])
        .call(IN_FREE, TEST)
        .code(IN_FREE, &[0x5d, 0xc3]);
    let mut stack = stack();
    // The slot of the return address in `main`, 8 below the end of its frame.
    let frame = SP + 24;
    outer(stack.word(IN_FREE).word(frame).word(IN_MAIN));
    let regs = UserRegs::x86_64(TEST, SP).set(reg::BP, 0x1234);
    program.check(&regs, &stack, &chain(FoundBy::Code), EndReason::Root);
}

#[test]
fn a_call_of_another_function_is_no_proof() {
    // add $8,%rsp; ret. The call before the return address is one of `test`; so is the one at the frame pointer's
    // record.
    let other = MAIN + 0x80;
    let program = program(&[0x48, 0x83, 0xc4, 0x08, 0xc3]).call(other, TEST).code(TEST, &[0xc3]);
    let mut stack = stack();
    stack.word(IN_FREE).word(0).word(other).label("rbp").word(0).word(other).words(0, 8);
    let regs = UserRegs::x86_64(TEST, SP).set(reg::BP, stack.address("rbp"));
    let two = [(TEST, FoundBy::Sampled), (IN_FREE - 1, FoundBy::Cfi)];
    program.check(&regs, &stack, &two, EndReason::NoUnwindInfo);
}

#[test]
fn the_frame_pointer_counts_where_the_code_takes_it_back() {
    // leave; pop %rcx; mov %rdx,%rsp; push %rcx; ret: the stack pointer's change is unknown. The call before the return
    // address is one through a register.
    let back = MAIN + 0x60;
    let program =
        program(&[0xc9, 0x59, 0x48, 0x89, 0xd4, 0x51, 0xc3]).code(back - 2, &[0xff, 0xd0]);
    let mut stack = stack();
    outer(stack.word(IN_FREE).words(0, 3).label("rbp").word(0).word(back));
    let regs = UserRegs::x86_64(TEST, SP).set(reg::BP, stack.address("rbp"));
    let mut expected = chain(FoundBy::FramePointer);
    expected[2].0 = back - 1;
    program.check(&regs, &stack, &expected, EndReason::Root);
}

/// `main` calls `test`, which has its CFA in a word below the stack pointer.
fn below(code: &[u8]) -> Program {
    let cfa = DwarfExpr::new(Endian::Little).breg(7, -8).deref();
    Program::new(Arch::X86_64, ops().def_cfa_expression(&cfa))
        .call(IN_ROOT, MAIN)
        .call(IN_MAIN, TEST)
        .code(TEST - 1, &[0xc3])
        .code(TEST, code)
}

fn two_callers(found_by: FoundBy) -> [(u64, FoundBy); 3] {
    [(TEST, FoundBy::Sampled), (IN_MAIN - 1, found_by), (IN_ROOT - 1, FoundBy::Cfi)]
}

#[test]
fn the_code_says_what_call_frame_information_reads_where_nothing_was_recorded() {
    // mov 0x10(%rsp),%rsi; mov -8(%rsi),%rbx; lea (%rsi),%rsp; ret
    let code = [0x48, 0x8b, 0x74, 0x24, 0x10, 0x48, 0x8b, 0x5e, 0xf8, 0x48, 0x8d, 0x26, 0xc3];
    let mut stack = stack();
    outer(stack.words(0, 2).word(SP + 0x30).words(0, 3).word(IN_MAIN));
    let regs = UserRegs::x86_64(TEST, SP);
    below(&code).check(&regs, &stack, &two_callers(FoundBy::Code), EndReason::Root);
}

#[test]
fn the_one_word_that_leads_to_a_root_is_found() {
    // nop; jmp *%rax: the code proves nothing.
    let program = below(&[0x90, 0xff, 0xe0]);
    let regs = UserRegs::x86_64(TEST, SP);
    let mut one = stack();
    outer(one.words(0, 5).word(IN_MAIN));
    program.check(&regs, &one, &two_callers(FoundBy::Scan), EndReason::Root);
    // A word that call frame information leads nowhere from.
    let mut stale = stack();
    outer(stale.word(0).word(IN_MAIN).words(0, 4).word(IN_MAIN));
    program.check(&regs, &stale, &two_callers(FoundBy::Scan), EndReason::Root);
    // Two that lead to a root: the choice is unknown.
    let mut two = stack();
    outer(two.word(0).word(IN_MAIN));
    outer(two.word(IN_MAIN));
    let one = [(TEST, FoundBy::Sampled)];
    program.check(&regs, &two, &one, EndReason::MemoryNotRecorded);
}

#[test]
fn a_thread_begins_where_its_code_ends_it() {
    // `free` calls a function by a register, then: mov %eax,%edi; xor %eax,%eax; mov $60,%al; syscall; hlt
    let code = [0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05, 0xf4];
    let call = [0x90, 0x90, 0x41, 0xff, 0xd1];
    let begins = Program::new(Arch::X86_64, ops()).code(FREE - 1, &[0xc3]).code(IN_FREE, &code);
    let mut stack = stack();
    stack.word(IN_FREE).words(0, 4);
    let expected = [(TEST, FoundBy::Sampled), (IN_FREE - 1, FoundBy::Cfi)];
    let regs = UserRegs::x86_64(TEST, SP);
    begins.code(IN_FREE - 5, &call).check(&regs, &stack, &expected, EndReason::Root);
    // `main` calls it: it ends the process, but another function began it.
    let program = program(&code).code(IN_FREE - 5, &call);
    program.check(&regs, &stack, &expected, EndReason::UnprovenRoot);
}

#[test]
fn a_guess_proves_no_root_by_a_return_address_of_zero() {
    let mut stack = stack();
    stack.words(1, 4).label("rbp").word(0).word(IN_MAIN).words(0, 8);
    let regs = UserRegs::x86_64(0x60_0010, SP).set(reg::BP, stack.address("rbp"));
    let mut world = program(&[]).load();
    world.map(0x60_0000, 0x1000, 0, b"//anon", [true, false]);
    let (frames, end) = world.walk(&regs, &stack.bytes());
    assert_eq!(frames, [(0x60_0010, FoundBy::Sampled), (IN_MAIN - 1, FoundBy::FramePointer)]);
    assert_eq!(end, EndReason::UnprovenRoot);
}

#[test]
fn a_fiber_begins_with_what_its_function_returns_to() {
    // glibc's `__start_context`: mov %rbx,%rsp; mov (%rsp),%rdi; test %rdi,%rdi; je; call; mov %rax,%rdi; call; hlt
    let start = [
        0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85, 0xff, 0x74, 0x08, 0xe8, 0xe0, 0, 0,
        0, 0x48, 0x89, 0xc7, 0xe8, 0xd8, 0, 0, 0, 0xf4,
    ];
    let program = Program::new(Arch::X86_64, ops().def_cfa_offset(16)).code(FREE, &start);
    let chain = [(TEST + 0x10, FoundBy::Sampled), (FREE, FoundBy::Cfi)];
    let mut stack = stack();
    stack.word(1).word(FREE).words(0x1234, 8);
    let regs = UserRegs::x86_64(TEST + 0x10, SP);
    program.check(&regs, &stack, &chain, EndReason::Root);
    // Code that returns is not the start of a stack.
    let program = Program::new(Arch::X86_64, ops().def_cfa_offset(16)).code(FREE, &start);
    let program = program.code(FREE + start.len() as u64 - 1, &[0xc3]);
    let chain = [(TEST + 0x10, FoundBy::Sampled), (FREE - 1, FoundBy::Cfi)];
    program.check(&regs, &stack, &chain, EndReason::NoUnwindInfo);
}
