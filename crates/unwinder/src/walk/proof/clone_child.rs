//! The child of a system call that creates a thread or a process with its own stack. It returns with 0 in rax, on a
//! stack without a return address. Its code continues to the start of the thread.
//!
//! ```text
//!   syscall ; test %rax,%rax ; jl error ; je child ; ret      child: (no return address) ... call *%rdx
//!             ^ from here on
//! ```

use address::{Avma, Svma};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Mnemonic};

use crate::arch::Arch;
use crate::rule::Rule;
use crate::state::{Registers, WalkContext};
use crate::walk::Walker;
use crate::walk::without_cfi::LookedUpFrame;

/// Bytes to decode, and the maximum number of instructions in them.
const BYTES: usize = 16;
const MOST: usize = 4;
/// rax.
const RESULT: u8 = 0;
/// Bytes before the sampled instruction that contain the system call.
const BEFORE: usize = 12;
const SYSCALL: [u8; 2] = [0x0f, 0x05];

impl Walker<'_> {
    /// Returns true if a sampled frame without CFI is the child's, directly after the system call: its code and its
    /// registers lead to the start of a thread.
    #[cold]
    pub(in crate::walk) fn is_clone_child(
        &mut self,
        callee: &LookedUpFrame<'_>,
        registers: &Registers,
        context: &WalkContext<'_>,
    ) -> bool {
        if !context.arch.is(Arch::X86_64) || !callee.is_leaf || registers.value(RESULT) != Some(0) {
            return false;
        }
        let Some(before) = context.memory.code(callee.lookup.sub(BEFORE as u64), BEFORE) else {
            return false;
        };
        let Some(code) = context.memory.code(callee.lookup, BYTES) else { return false };
        if !before.windows(SYSCALL.len()).any(|bytes| bytes == SYSCALL) {
            return false;
        }
        let Some(target) = branch_of_zero(code, callee.lookup.0) else { return false };
        let svma = Svma(callee.svma.0.wrapping_add(target.wrapping_sub(callee.lookup.0)));
        let Some(file) = callee.mapping.file else { return false };
        self.rule_of(file, svma, Avma(target), context) == Rule::Outermost
    }
}

/// Returns the target of the branch that code takes for a result of 0.
fn branch_of_zero(code: &[u8], at: u64) -> Option<u64> {
    let decoder = Decoder::with_ip(64, code, at, DecoderOptions::NONE);
    for instruction in decoder.into_iter().take(MOST) {
        match (instruction.flow_control(), instruction.mnemonic()) {
            (_, Mnemonic::Je) => return Some(instruction.near_branch_target()),
            // A result of 0 is not an error, whichever test is used.
            (FlowControl::ConditionalBranch, Mnemonic::Jl | Mnemonic::Js | Mnemonic::Jae) => {}
            (FlowControl::Next, Mnemonic::Test | Mnemonic::Cmp) => {}
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_branch_of_a_result_of_zero() {
        // test %rax,%rax; jl; je +1; ret
        let code = [0x48, 0x85, 0xc0, 0x7c, 0x18, 0x74, 0x01, 0xc3, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(branch_of_zero(&code, 0x1000), Some(0x1008));
        assert_eq!(branch_of_zero(&code[3..], 0x1003), Some(0x1008));
        assert_eq!(branch_of_zero(&code[5..], 0x1005), Some(0x1008));
        assert_eq!(branch_of_zero(&code[7..], 0x1007), None);
    }
}
