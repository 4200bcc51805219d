//! The processor that an ELF file was made for.

use object::{Object as _, ReadRef, elf};

/// The processor that an ELF file was made for, as far as this project distinguishes them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ElfMachine {
    /// x86-64 (`EM_X86_64`, 64-bit class).
    X86_64,
    /// aarch64 (`EM_AARCH64`, 64-bit class).
    Aarch64,
    /// 32-bit x86 (`EM_386`).
    X86,
    /// 32-bit ARM (`EM_ARM`).
    Arm,
    /// 64-bit RISC-V (`EM_RISCV`, 64-bit class).
    Riscv64,
    /// 64-bit IBM Z (`EM_S390`, 64-bit class).
    S390x,
    /// 64-bit POWER (`EM_PPC64`), either byte order.
    Ppc64,
    /// 64-bit `LoongArch` (`EM_LOONGARCH`, 64-bit class).
    Loongarch64,
    /// Anything else, with its `e_machine`.
    Other(u16),
}

impl ElfMachine {
    /// The processor of an `e_machine`.
    ///
    /// Source: gABI, "ELF Header", `e_machine`.
    #[must_use]
    pub const fn from_e_machine(value: u16) -> Self {
        match elf::Machine(value) {
            elf::EM_X86_64 => Self::X86_64,
            elf::EM_AARCH64 => Self::Aarch64,
            elf::EM_386 => Self::X86,
            elf::EM_ARM => Self::Arm,
            elf::EM_RISCV => Self::Riscv64,
            elf::EM_S390 => Self::S390x,
            elf::EM_PPC64 => Self::Ppc64,
            elf::EM_LOONGARCH => Self::Loongarch64,
            _ => Self::Other(value),
        }
    }

    /// Its `e_machine`.
    #[must_use]
    pub const fn e_machine(self) -> u16 {
        match self {
            Self::X86_64 => elf::EM_X86_64.0,
            Self::Aarch64 => elf::EM_AARCH64.0,
            Self::X86 => elf::EM_386.0,
            Self::Arm => elf::EM_ARM.0,
            Self::Riscv64 => elf::EM_RISCV.0,
            Self::S390x => elf::EM_S390.0,
            Self::Ppc64 => elf::EM_PPC64.0,
            Self::Loongarch64 => elf::EM_LOONGARCH.0,
            Self::Other(value) => value,
        }
    }

    /// The processor of a parsed file, whose bytes are `bytes`.
    pub(super) fn of<'d, R: ReadRef<'d>>(file: &object::File<'d, R>, bytes: &[u8]) -> Self {
        match file.architecture() {
            object::Architecture::X86_64 => Self::X86_64,
            object::Architecture::Aarch64 => Self::Aarch64,
            object::Architecture::I386 => Self::X86,
            object::Architecture::Arm => Self::Arm,
            object::Architecture::Riscv64 => Self::Riscv64,
            object::Architecture::S390x => Self::S390x,
            object::Architecture::PowerPc64 => Self::Ppc64,
            object::Architecture::LoongArch64 => Self::Loongarch64,
            _ => {
                const E_MACHINE: usize = 18;
                let raw = [bytes.get(E_MACHINE), bytes.get(E_MACHINE + 1)]
                    .map(|byte| byte.copied().unwrap_or(0));
                Self::Other(if file.is_little_endian() {
                    u16::from_le_bytes(raw)
                } else {
                    u16::from_be_bytes(raw)
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names() {
        let numbers = [
            (ElfMachine::X86_64, 62),
            (ElfMachine::Aarch64, 183),
            (ElfMachine::X86, 3),
            (ElfMachine::Arm, 40),
            (ElfMachine::Riscv64, 243),
            (ElfMachine::S390x, 22),
            (ElfMachine::Ppc64, 21),
            (ElfMachine::Loongarch64, 258),
            (ElfMachine::Other(2), 2),
        ];
        for (machine, number) in numbers {
            assert_eq!(machine.e_machine(), number);
            assert_eq!(ElfMachine::from_e_machine(number), machine);
        }
    }
}
