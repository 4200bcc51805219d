//! The processor that an ELF file was made for.

use object::{Object as _, elf};

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
            Self::Other(value) => value,
        }
    }

    /// The processor of a parsed file, whose bytes are `bytes`.
    pub(super) fn of(file: &object::File<'_>, bytes: &[u8]) -> Self {
        match file.architecture() {
            object::Architecture::X86_64 => Self::X86_64,
            object::Architecture::Aarch64 => Self::Aarch64,
            object::Architecture::I386 => Self::X86,
            object::Architecture::Arm => Self::Arm,
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
        let known = [ElfMachine::X86_64, ElfMachine::Aarch64, ElfMachine::X86, ElfMachine::Arm];
        assert_eq!(known.map(ElfMachine::e_machine), [62, 183, 3, 40]);
        assert_eq!([62, 183, 3, 40].map(ElfMachine::from_e_machine), known);
        assert_eq!(ElfMachine::from_e_machine(243), ElfMachine::Other(243));
        assert_eq!(ElfMachine::Other(243).e_machine(), 243);
    }
}
