//! Queries about a processor for other crates, which only have its name.

use crate::arch::{Arch, ArchDescriptor, CallTarget, processor};

/// Returns true if stacks of a processor can be unwound.
#[must_use]
pub const fn is_unwound(arch: Arch) -> bool {
    processor(arch).is_some()
}

/// The bit of the recorder's register mask for the stack pointer; `None` for an unsupported processor.
#[must_use]
pub fn sp_bit(arch: Arch) -> Option<u32> {
    processor(arch).and_then(ArchDescriptor::sp_bit)
}

/// The bit of the recorder's register mask for the program counter; `None` for an unsupported processor.
#[must_use]
pub fn pc_bit(arch: Arch) -> Option<u32> {
    processor(arch).map(|arch| arch.pc_bit)
}

/// Number of bytes before a return address that [`call_target`] and [`slot_of_call`] read; `None` for an unsupported
/// processor.
#[must_use]
pub fn longest_call(arch: Arch) -> Option<usize> {
    processor(arch).map(ArchDescriptor::longest_call)
}

/// Returns the target of the call at the end of code of [`longest_call`] bytes; `None` if no call is there. The code
/// ends before `return_address`, which is an address that the file states.
#[must_use]
pub fn call_target(arch: Arch, code: &[u8], return_address: u64) -> Option<CallTarget> {
    processor(arch)?.call_target(code, return_address)
}

/// Returns the address of the word that the call at the end of code reads its target from, if the call states it. The
/// code and `return_address` are those of [`call_target`]; both addresses are as the file states them.
#[must_use]
pub fn slot_of_call(arch: Arch, code: &[u8], return_address: u64) -> Option<u64> {
    processor(arch)?.slot_of_call(code, return_address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_is_asked_by_its_name() {
        let contents = [Arch::X86_64, Arch::Aarch64].map(|arch| (sp_bit(arch), pc_bit(arch)));
        assert_eq!(contents, [(Some(7), Some(8)), (Some(31), Some(32))]);
        let n_unwound = Arch::ALL.iter().filter(|&&arch| is_unwound(arch)).count();
        let n_known = Arch::ALL.iter().filter(|&&arch| longest_call(arch).is_some()).count();
        assert_eq!((n_unwound, n_known), (8, 8));
    }

    #[test]
    fn the_call_before_a_return_address() {
        // call 0x1005 + 0x100; call *0x20(%rip); nop
        let direct = [0x90, 0x90, 0x90, 0xe8, 0, 1, 0, 0];
        let by_slot = [0x90, 0x90, 0xff, 0x15, 0x20, 0, 0, 0];
        let target = |code: &[u8]| call_target(Arch::X86_64, code, 0x1005);
        assert_eq!(target(&direct), Some(CallTarget::Address(0x1105)));
        assert_eq!(target(&by_slot), Some(CallTarget::Indirect));
        assert_eq!(slot_of_call(Arch::X86_64, &by_slot, 0x1005), Some(0x1025));
        assert_eq!(target(&[0x90; 8]), None);
    }
}
