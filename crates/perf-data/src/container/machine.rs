//! The machine that was recorded: its architecture, and how that is known.

use super::features::Features;
use crate::bytes::Endian;
use crate::event::EventAttr;

/// The architecture of the recorded kernel. A process of it may be of a smaller one (see the ABI of its registers).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum RecordedArch {
    /// AMD64.
    X86_64,
    /// 32-bit x86.
    X86,
    /// 64-bit Arm.
    Aarch64,
    /// 32-bit Arm.
    Arm,
    /// 64-bit RISC-V.
    Riscv64,
    /// 32-bit RISC-V.
    Riscv32,
    /// 64-bit `LoongArch`.
    Loongarch64,
    /// IBM Z.
    S390x,
    /// 64-bit POWER, either byte order.
    Powerpc64,
    /// 32-bit `PowerPC`.
    Powerpc,
    /// MIPS, any width.
    Mips,
    /// None of these, or not known.
    Unknown,
}

/// By what the architecture is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MachineSource {
    /// The feature `E_MACHINE`.
    ElfMachine,
    /// The feature `ARCH`, what `uname -m` says.
    Uname,
    /// A guess from the set of sampled registers.
    RegisterMask,
    /// Nothing did.
    Nothing,
}

/// The machine that was recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordedMachine {
    /// Its architecture.
    pub arch: RecordedArch,
    /// Its byte order.
    pub endian: Endian,
    /// By what the architecture is known.
    pub source: MachineSource,
}

impl RecordedMachine {
    pub(crate) fn detect<'a>(
        features: &Features<'_>,
        attrs: impl Iterator<Item = &'a EventAttr>,
        endian: Endian,
    ) -> Self {
        let by_elf = features.machine_code.map(|code| RecordedArch::from_elf(code.e_machine));
        let by_uname = features.arch.map(RecordedArch::from_uname);
        let known = |arch: &RecordedArch| *arch != RecordedArch::Unknown;
        if let Some(arch) = by_elf.filter(known) {
            return Self { arch, endian, source: MachineSource::ElfMachine };
        }
        if let Some(arch) = by_uname.filter(known) {
            return Self { arch, endian, source: MachineSource::Uname };
        }
        let guess =
            attrs.map(|attr| RecordedArch::from_register_mask(attr.sample_regs_user)).find(known);
        match guess {
            Some(arch) => Self { arch, endian, source: MachineSource::RegisterMask },
            None => Self { arch: RecordedArch::Unknown, endian, source: MachineSource::Nothing },
        }
    }
}

impl RecordedArch {
    /// By the machine id of an ELF header. RISC-V is taken as 64-bit.
    ///
    /// Source: gABI, `e_machine`.
    pub(crate) fn from_elf(e_machine: u32) -> Self {
        match e_machine {
            3 => Self::X86,
            62 => Self::X86_64,
            40 => Self::Arm,
            183 => Self::Aarch64,
            243 => Self::Riscv64,
            258 => Self::Loongarch64,
            22 => Self::S390x,
            21 => Self::Powerpc64,
            20 => Self::Powerpc,
            8 => Self::Mips,
            _ => Self::Unknown,
        }
    }

    /// By what `uname -m` prints.
    #[must_use]
    pub fn from_uname(name: &[u8]) -> Self {
        match name {
            b"x86_64" | b"amd64" => Self::X86_64,
            b"i386" | b"i486" | b"i586" | b"i686" | b"x86" => Self::X86,
            b"aarch64" | b"arm64" | b"aarch64_be" => Self::Aarch64,
            b"riscv64" => Self::Riscv64,
            b"riscv32" => Self::Riscv32,
            b"loongarch64" => Self::Loongarch64,
            b"s390x" => Self::S390x,
            b"ppc64" | b"ppc64le" => Self::Powerpc64,
            b"ppc" => Self::Powerpc,
            name if name.starts_with(b"arm") => Self::Arm,
            name if name.starts_with(b"mips") => Self::Mips,
            _ => Self::Unknown,
        }
    }

    /// By the usual sets of user registers that recorders ask for. 32 registers are asked for on RISC-V as well as
    /// on `LoongArch`, so that set says nothing.
    ///
    /// Source: `arch/*/include/uapi/asm/perf_regs.h`, the `PERF_REGS_MASK` of each.
    pub(crate) fn from_register_mask(mask: u64) -> Self {
        match mask & !(1 << 46) {
            0x00ff_0fff => Self::X86_64,
            0x0000_0fff => Self::X86,
            0x0001_ffff_ffff => Self::Aarch64,
            0x0000_ffff => Self::Arm,
            0x0003_ffff_ffff => Self::S390x,
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::feature_types::MachineCode;
    use super::*;

    #[test]
    fn the_surest_source_wins() {
        let attr = EventAttr { sample_regs_user: 0x00ff_0fff, ..EventAttr::default() };
        let mut features = Features::default();
        let detect = |features: &Features<'_>| {
            RecordedMachine::detect(features, [attr].iter(), Endian::Little)
        };
        let machine = detect(&features);
        assert_eq!(
            (machine.arch, machine.source),
            (RecordedArch::X86_64, MachineSource::RegisterMask)
        );
        features.arch = Some(b"armv7l");
        assert_eq!(
            (detect(&features).arch, detect(&features).source),
            (RecordedArch::Arm, MachineSource::Uname)
        );
        features.machine_code = Some(MachineCode { e_machine: 183, e_flags: 0 });
        assert_eq!(
            (detect(&features).arch, detect(&features).source),
            (RecordedArch::Aarch64, MachineSource::ElfMachine)
        );
    }

    #[test]
    fn masks() {
        assert_eq!(
            RecordedArch::from_register_mask(0x0001_ffff_ffff | 1 << 46),
            RecordedArch::Aarch64
        );
        assert_eq!(RecordedArch::from_register_mask(0xffff_ffff), RecordedArch::Unknown);
        assert_eq!(RecordedArch::from_register_mask(0), RecordedArch::Unknown);
    }
}
