//! Test of `__builtin_eh_return`: the function overwrites its own return address with that of a handler.

use synth::UserRegs;
use unwinder::{Arch, EndReason, FoundBy};

use crate::world::{FREE, IN_MAIN, Program, SP, TEST, ops, outer, stack, usual};

/// A program: `test` saves rax and rdx, as functions do that continue in a handler; or only one of them.
fn program(both: bool) -> Program {
    let rows = ops().def_cfa_offset(32).offset(0, 4);
    let rows = if both { rows.offset(1, 3) } else { rows };
    Program::new(Arch::X86_64, rows).call(IN_MAIN, TEST)
}

#[test]
fn a_handlers_address_is_no_return_address() {
    let regs = UserRegs::x86_64(TEST + 8, SP);
    let mut own = stack();
    outer(own.words(1, 3).word(IN_MAIN));
    program(true).check(&regs, &own, &usual(TEST + 8), EndReason::Root);
    // A handler in `main`, without a preceding call of `test`.
    let handler = IN_MAIN + 0x20;
    let mut replaced = stack();
    outer(replaced.words(1, 3).word(handler));
    let chain = &[(TEST + 8, FoundBy::Sampled)];
    program(true).check(&regs, &replaced, chain, EndReason::RegisterUnknown);
    // A call of a function that can jump anywhere is not enough: jmp *%rax.
    let anywhere = program(true).call(handler, FREE).code(FREE, &[0xff, 0xe0]);
    anywhere.check(&regs, &replaced, chain, EndReason::RegisterUnknown);
    // A call through a register may be one of `test`: call *%rax.
    let indirect = program(true).code(handler - 2, &[0xff, 0xd0]);
    let mut through = usual(TEST + 8);
    through[1].0 = handler - 1;
    indirect.check(&regs, &replaced, &through, EndReason::Root);
    // Another function is trusted.
    let mut chain = usual(TEST + 8);
    chain[1].0 = handler - 1;
    program(false).check(&regs, &replaced, &chain, EndReason::Root);
}
