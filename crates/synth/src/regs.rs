//! User registers by perf's numbering, returned in the order of a sample mask.

/// Mask bits of x86-64.
///
/// Source: `enum perf_event_x86_regs`, `arch/x86/include/uapi/asm/perf_regs.h`.
#[allow(missing_docs, reason = "the names are those of the registers")]
pub mod x86_64_reg {
    pub const AX: u32 = 0;
    pub const BX: u32 = 1;
    pub const CX: u32 = 2;
    pub const DX: u32 = 3;
    pub const SI: u32 = 4;
    pub const DI: u32 = 5;
    pub const BP: u32 = 6;
    pub const SP: u32 = 7;
    pub const IP: u32 = 8;
    pub const FLAGS: u32 = 9;
    pub const CS: u32 = 10;
    pub const SS: u32 = 11;
    pub const R8: u32 = 16;
    pub const R9: u32 = 17;
    pub const R10: u32 = 18;
    pub const R11: u32 = 19;
    pub const R12: u32 = 20;
    pub const R13: u32 = 21;
    pub const R14: u32 = 22;
    pub const R15: u32 = 23;
    /// Mask that `perf record --call-graph dwarf` requests.
    pub const USUAL_MASK: u64 = 0x00ff_0fff;
}

/// Mask bits of aarch64; `x0` to `x28` are 0 to 28.
///
/// Source: `enum perf_event_arm_regs`, `arch/arm64/include/uapi/asm/perf_regs.h`.
#[allow(missing_docs, reason = "the names are those of the registers")]
pub mod aarch64_reg {
    pub const FP: u32 = 29;
    pub const LR: u32 = 30;
    pub const SP: u32 = 31;
    pub const PC: u32 = 32;
    pub const VG: u32 = 46;
    /// Mask that `perf record --call-graph dwarf` requests on a machine without SVE.
    pub const USUAL_MASK: u64 = 0x1_ffff_ffff;
}

/// Mask bits of 32-bit Arm; `r0` to `r12` are 0 to 12.
///
/// Source: `enum perf_event_arm_regs`, `arch/arm/include/uapi/asm/perf_regs.h`.
#[allow(missing_docs, reason = "the names are those of the registers")]
pub mod arm_reg {
    pub const SP: u32 = 13;
    pub const LR: u32 = 14;
    pub const PC: u32 = 15;
    /// Mask that `perf record --call-graph dwarf` requests.
    pub const USUAL_MASK: u64 = 0xffff;
}

/// Mask bits of 64-bit RISC-V; `x1` to `x31` are 1 to 31.
///
/// Source: `enum perf_event_riscv_regs`, `arch/riscv/include/uapi/asm/perf_regs.h`.
#[allow(missing_docs, reason = "the names are those of the registers")]
pub mod riscv64_reg {
    pub const PC: u32 = 0;
    pub const RA: u32 = 1;
    pub const SP: u32 = 2;
    pub const S0: u32 = 8;
    /// Mask that `perf record --call-graph dwarf` requests.
    pub const USUAL_MASK: u64 = 0xffff_ffff;
}

/// Register values by mask bit, zero unless set.
///
/// ```
/// use synth::{UserRegs, x86_64_reg};
/// let regs = UserRegs::x86_64(0x401000, 0x7ffd_0000).set(x86_64_reg::BP, 5);
/// assert_eq!(regs.values(1 << 6 | 1 << 7 | 1 << 8), [5, 0x7ffd_0000, 0x401000]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserRegs {
    values: [u64; 64],
    mask: u64,
}

impl UserRegs {
    /// Returns registers of x86-64 with the usual mask.
    #[must_use]
    pub fn x86_64(ip: u64, sp: u64) -> Self {
        Self { values: [0; 64], mask: x86_64_reg::USUAL_MASK }
            .set(x86_64_reg::IP, ip)
            .set(x86_64_reg::SP, sp)
    }

    /// Returns registers of a 32-bit process on an x86-64 machine, with the usual mask of x86-64.
    #[must_use]
    pub fn x86(ip: u32, sp: u32) -> Self {
        Self::x86_64(ip.into(), sp.into())
    }

    /// Returns registers of aarch64 with the usual mask.
    #[must_use]
    pub fn aarch64(pc: u64, sp: u64) -> Self {
        Self { values: [0; 64], mask: aarch64_reg::USUAL_MASK }
            .set(aarch64_reg::PC, pc)
            .set(aarch64_reg::SP, sp)
    }

    /// Returns registers of 64-bit `LoongArch` with the usual mask. Bit 0 is the program counter.
    #[must_use]
    pub fn loongarch64(pc: u64, sp: u64) -> Self {
        Self { values: [0; 64], mask: 0xffff_ffff }.set(0, pc).set(3, sp)
    }

    /// Returns registers of 32-bit Arm with the usual mask.
    #[must_use]
    pub fn arm(pc: u32, sp: u32) -> Self {
        Self { values: [0; 64], mask: arm_reg::USUAL_MASK }
            .set(arm_reg::PC, pc.into())
            .set(arm_reg::SP, sp.into())
    }

    /// Returns registers of 64-bit RISC-V with the usual mask.
    #[must_use]
    pub fn riscv64(pc: u64, sp: u64) -> Self {
        Self { values: [0; 64], mask: riscv64_reg::USUAL_MASK }
            .set(riscv64_reg::PC, pc)
            .set(riscv64_reg::SP, sp)
    }

    /// Sets a register by its mask bit (0 to 63).
    ///
    /// # Panics
    /// If `bit` is above 63.
    #[must_use]
    pub fn set(mut self, bit: u32, value: u64) -> Self {
        self.values[bit as usize] = value;
        self
    }

    /// Usual mask of the architecture.
    #[must_use]
    pub fn usual_mask(&self) -> u64 {
        self.mask
    }

    /// Returns the values of the bits of `mask`, ascending, as in a sample.
    #[must_use]
    pub fn values(&self, mask: u64) -> Vec<u64> {
        (0..64).filter(|bit| mask >> bit & 1 == 1).map(|bit| self.values[bit]).collect()
    }

    /// Returns the values of the usual mask.
    #[must_use]
    pub fn usual_values(&self) -> Vec<u64> {
        self.values(self.mask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_masks_have_the_known_number_of_registers() {
        assert_eq!(UserRegs::x86_64(1, 2).usual_values().len(), 20);
        let arm = UserRegs::aarch64(1, 2).set(aarch64_reg::LR, 3).usual_values();
        assert_eq!(arm.len(), 33);
        assert_eq!(arm[30..], [3, 2, 1]);
    }
}
