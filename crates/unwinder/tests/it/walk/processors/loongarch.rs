//! Tests of walks on `LoongArch`: the return address is initially in ra, and the frame pointer equals the CFA.

use synth::UserRegs;
use unwinder::{Arch, EndReason, FoundBy};

use crate::world::{FREE, IN_MAIN, Program, SP, TEST, ops, outer_arm, stack, usual};

const RA: u32 = 1;
const FP: u32 = 22;

#[test]
fn a_leaf_returns_to_its_register() {
    let mut stack = stack();
    outer_arm(&mut stack);
    let regs = UserRegs::loongarch64(TEST, SP).set(RA, IN_MAIN);
    let program = Program::new(Arch::Loongarch64, ops());
    program.check(&regs, &stack, &usual(TEST), EndReason::Root);
}

#[test]
fn saved_registers() {
    // addi.d $sp, $sp, -32; st.d $ra, $sp, 24; st.d $fp, $sp, 16; addi.d $fp, $sp, 32; addi.d $sp, $sp, -16
    let rows = ops().def_cfa(22, 0).offset(1, 1).offset(22, 2);
    let mut stack = stack();
    outer_arm(stack.words(1, 4).word(0).word(IN_MAIN).label("fp"));
    let regs = UserRegs::loongarch64(TEST, SP).set(RA, 1).set(FP, stack.address("fp"));
    let program = Program::new(Arch::Loongarch64, rows);
    program.check(&regs, &stack, &usual(TEST), EndReason::Root);
}

#[test]
fn without_information_the_code_says_where_the_return_address_is() {
    let function = [
        0x02ff_8063_u32, // addi.d $sp, $sp, -32
        0x29c0_6061,     // st.d $ra, $sp, 24
        0x29c0_4076,     // st.d $fp, $sp, 16
        0x0340_0000,     // nop
        0x28c0_6061,     // ld.d $ra, $sp, 24
        0x28c0_4076,     // ld.d $fp, $sp, 16
        0x02c0_8063,     // addi.d $sp, $sp, 32
        0x4c00_0020,     // jr $ra
    ];
    let code: Vec<u8> = function.iter().flat_map(|word| word.to_le_bytes()).collect();
    // bl
    let words = (FREE - (IN_MAIN - 4)) as u32 / 4;
    let call = (0x5400_0000 | (words & 0xffff) << 10 | words >> 16).to_le_bytes();
    let program = Program::new(Arch::Loongarch64, ops()).code(FREE, &code);
    let program = program.code(IN_MAIN - 4, &call);
    let mut stack = stack();
    outer_arm(stack.words(1, 2).word(0).word(IN_MAIN));
    let regs = UserRegs::loongarch64(FREE + 12, SP).set(RA, 1);
    let mut expected = usual(FREE + 12);
    expected[1].1 = FoundBy::Code;
    program.check(&regs, &stack, &expected, EndReason::Root);
    // A call of another function does not count.
    let other = program
        .code(IN_MAIN - 4, &0x5400_1000_u32.to_le_bytes())
        .code(IN_MAIN + 12, &0x4c00_0020_u32.to_le_bytes());
    let one = [(FREE + 12, FoundBy::Sampled)];
    other.check(&regs, &stack, &one, EndReason::NoUnwindInfo);
}

#[test]
fn a_handler_on_an_interrupted_leaf() {
    // ori $a7, $zero, 139; syscall 0. There: siginfo of 128 bytes, 176 bytes of ucontext, then the program counter, r0
    // to r31.
    let (trampoline, handler) = (FREE, FREE + 0x100);
    let program = Program::new(Arch::Loongarch64, ops())
        .function(handler, 0x20, ops().def_cfa_offset(16).offset(1, 1))
        .code(trampoline, &[0x0b, 0x2c, 0x82, 0x03, 0x00, 0x00, 0x2b, 0x00]);
    let mut stack = stack();
    stack.word(0).word(trampoline).words(0xcc, 16 + 22);
    stack.word(TEST).word(0).word(IN_MAIN).word(0).word_of_label("sp").words(0xdd, 28);
    stack.words(0, 20).label("sp");
    outer_arm(&mut stack);
    let regs = UserRegs::loongarch64(handler + 8, SP).set(RA, 1);
    let cfi = FoundBy::Cfi;
    let [_, main, root] = usual(TEST);
    let expected = [(handler + 8, FoundBy::Sampled), (trampoline, cfi), (TEST, cfi), main, root];
    program.check(&regs, &stack, &expected, EndReason::Root);
}
