//! Properties of the supported processors: word size, register numbers, registers that a simple rule can restore, the
//! mapping of a recorder's register mask to DWARF numbers, signal trampolines and calls. Each processor has a file with
//! one descriptor.

mod aarch64;
pub(crate) mod arm;
mod by_name;
mod code;
mod descriptor;
mod effect;
mod flow;
mod loongarch64;
mod powerpc64;
mod riscv64;
mod s390x;
mod x86;
mod x86_64;

pub use address::Arch;

pub use by_name::{call_target, is_unwound, longest_call, pc_bit, slot_of_call, sp_bit};

pub(crate) use descriptor::ArchDescriptor;
pub(crate) use effect::{Base, JumpTable, MemoryWords, PathState, Sum, SymbolicValue};
pub use flow::{Flow, FlowDecoder, FlowStep, SkippedRun};

/// A supported processor.
pub(crate) type Processor = &'static ArchDescriptor;

/// x86-64, for code that exists on no other processor.
pub(crate) const X86_64: Processor = &x86_64::DESCRIPTOR;
/// 32-bit Arm, for tables that exist on no other processor.
pub(crate) const ARM: Processor = &arm::DESCRIPTOR;

/// Returns the processor if it is supported.
#[inline]
pub(crate) const fn processor(arch: Arch) -> Option<Processor> {
    Some(match arch {
        Arch::X86_64 => &x86_64::DESCRIPTOR,
        Arch::Aarch64 => &aarch64::DESCRIPTOR,
        Arch::X86 => &x86::DESCRIPTOR,
        Arch::Riscv64 => &riscv64::DESCRIPTOR,
        Arch::Arm => &arm::DESCRIPTOR,
        Arch::S390x => &s390x::DESCRIPTOR,
        Arch::Powerpc64 => &powerpc64::DESCRIPTOR,
        Arch::Loongarch64 => &loongarch64::DESCRIPTOR,
        Arch::Riscv32 | Arch::Powerpc | Arch::Mips => return None,
    })
}

/// Target of a call, according to its instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallTarget {
    /// The code at that address, which is one that the file states if the call's is.
    Address(u64),
    /// The address in a register or in memory at run time.
    Indirect,
}

/// Size of a 64-bit processor's word, in bytes.
pub(crate) const WIDE: u64 = 8;
/// Size of a 32-bit processor's word, in bytes.
pub(crate) const NARROW: u64 = 4;

/// Largest number of registers of any processor.
pub(crate) const N_REGISTERS: usize = 34;

/// The number of slots of a simple rule: the return address and callee-saved registers.
pub(crate) const N_SLOTS: usize = 16;

/// Marks a slot without a register.
pub(crate) const UNUSED: u8 = u8::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    /// Each descriptor is consistent, and agrees with the facts in `address`.
    #[test]
    fn descriptors_are_consistent() {
        let unwound: Vec<_> =
            Arch::ALL.iter().filter_map(|&arch| Some((arch, processor(arch)?))).collect();
        assert_eq!(unwound.len(), 8);
        for (arch, it) in unwound {
            assert!(it.is(arch), "{arch}");
            assert_eq!(Some(8 * it.word as u32), arch.bits(), "{arch}");
            let registers = [it.sp, it.fp, it.return_address, it.pc].map(usize::from);
            assert!(registers.iter().all(|&register| register < N_REGISTERS), "{arch}");
            assert_eq!(it.of_mask_bits.get(it.pc_bit as usize), Some(&it.pc), "{arch}");
            assert!(it.sp_bit().is_some(), "{arch}");
            let fp = if it.has_simple_rules { it.fp } else { UNUSED };
            assert_eq!(it.slots.get(it.fp_slot), Some(&fp), "{arch}");
            assert!(usize::from(it.columns) <= N_REGISTERS, "{arch}");
        }
    }
}
