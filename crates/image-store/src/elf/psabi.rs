//! Constants of each processor's ELF supplement (psABI): kinds of relocations, and the word size of hash tables.

use address::Arch;
use object::elf::{self, RelocationType};

/// Constants of one processor.
#[derive(Debug)]
pub(super) struct Supplement {
    /// Relocation that writes an address of the same file.
    pub(super) relative: RelocationType,
    /// Relocation that writes the result of a resolver.
    pub(super) indirect: RelocationType,
    /// Relocations that write the address of a symbol: into the global offset table, and into a
    /// slot of the procedure linkage table.
    pub(super) slots: [RelocationType; 2],
    /// Relocation that writes the address of a symbol into any other word.
    pub(super) word: RelocationType,
    /// True if relocations state addends (`SHT_RELA`); otherwise the words contain them (`SHT_REL`).
    pub(super) has_addends: bool,
    /// Relocations of debug sections in relocatable files, if those are supported.
    pub(super) fields: &'static [Field],
    /// Size of a word of `.hash`, in bytes.
    pub(super) hash_word: usize,
}

/// A relocation that writes a symbol's address plus an addend.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) kind: RelocationType,
    /// Number of bytes written.
    pub(super) size: usize,
    /// True if the address is relative to the field itself.
    pub(super) is_relative: bool,
}

const fn absolute(kind: RelocationType, size: usize) -> Field {
    Field { kind, size, is_relative: false }
}

const fn relative(kind: RelocationType, size: usize) -> Field {
    Field { kind, size, is_relative: true }
}

static X86_64: Supplement = Supplement {
    relative: elf::R_X86_64_RELATIVE,
    indirect: elf::R_X86_64_IRELATIVE,
    slots: [elf::R_X86_64_GLOB_DAT, elf::R_X86_64_JUMP_SLOT],
    word: elf::R_X86_64_64,
    has_addends: true,
    fields: &[
        absolute(elf::R_X86_64_64, 8),
        absolute(elf::R_X86_64_32, 4),
        absolute(elf::R_X86_64_32S, 4),
        relative(elf::R_X86_64_PC32, 4),
        relative(elf::R_X86_64_PLT32, 4),
        relative(elf::R_X86_64_PC64, 8),
    ],
    hash_word: 4,
};

static X86: Supplement = Supplement {
    relative: elf::R_386_RELATIVE,
    indirect: elf::R_386_IRELATIVE,
    slots: [elf::R_386_GLOB_DAT, elf::R_386_JMP_SLOT],
    word: elf::R_386_32,
    has_addends: false,
    fields: &[],
    hash_word: 4,
};

static AARCH64: Supplement = Supplement {
    relative: elf::R_AARCH64_RELATIVE,
    indirect: elf::R_AARCH64_IRELATIVE,
    slots: [elf::R_AARCH64_GLOB_DAT, elf::R_AARCH64_JUMP_SLOT],
    word: elf::R_AARCH64_ABS64,
    has_addends: true,
    fields: &[
        absolute(elf::R_AARCH64_ABS64, 8),
        absolute(elf::R_AARCH64_ABS32, 4),
        relative(elf::R_AARCH64_PREL32, 4),
        relative(elf::R_AARCH64_PREL64, 8),
    ],
    hash_word: 4,
};

static ARM: Supplement = Supplement {
    relative: elf::R_ARM_RELATIVE,
    indirect: elf::R_ARM_IRELATIVE,
    slots: [elf::R_ARM_GLOB_DAT, elf::R_ARM_JUMP_SLOT],
    word: elf::R_ARM_ABS32,
    has_addends: false,
    fields: &[],
    hash_word: 4,
};

static RISCV64: Supplement = Supplement {
    relative: elf::R_RISCV_RELATIVE,
    indirect: elf::R_RISCV_IRELATIVE,
    slots: [elf::R_RISCV_64, elf::R_RISCV_JUMP_SLOT],
    word: elf::R_RISCV_64,
    has_addends: true,
    fields: &[],
    hash_word: 4,
};

static LOONGARCH64: Supplement = Supplement {
    relative: elf::R_LARCH_RELATIVE,
    indirect: elf::R_LARCH_IRELATIVE,
    slots: [elf::R_LARCH_64, elf::R_LARCH_JUMP_SLOT],
    word: elf::R_LARCH_64,
    has_addends: true,
    fields: &[],
    hash_word: 4,
};

static POWERPC64: Supplement = Supplement {
    relative: elf::R_PPC64_RELATIVE,
    indirect: elf::R_PPC64_IRELATIVE,
    slots: [elf::R_PPC64_GLOB_DAT, elf::R_PPC64_JMP_SLOT],
    word: elf::R_PPC64_ADDR64,
    has_addends: true,
    fields: &[],
    hash_word: 4,
};

static S390X: Supplement = Supplement {
    relative: elf::R_390_RELATIVE,
    indirect: elf::R_390_IRELATIVE,
    slots: [elf::R_390_GLOB_DAT, elf::R_390_JMP_SLOT],
    word: elf::R_390_64,
    has_addends: true,
    fields: &[],
    hash_word: 8,
};

impl Supplement {
    /// Returns the constants of a processor; `None` if relocations of its files are not supported.
    ///
    /// Source: the ELF supplement of each, "Relocation"; of s390x also "Hash Table".
    pub(super) const fn of(arch: Arch) -> Option<&'static Self> {
        match arch {
            Arch::X86_64 => Some(&X86_64),
            Arch::X86 => Some(&X86),
            Arch::Aarch64 => Some(&AARCH64),
            Arch::Arm => Some(&ARM),
            Arch::Riscv64 => Some(&RISCV64),
            Arch::Loongarch64 => Some(&LOONGARCH64),
            Arch::Powerpc64 => Some(&POWERPC64),
            Arch::S390x => Some(&S390X),
            Arch::Riscv32 | Arch::Powerpc | Arch::Mips => None,
        }
    }

    /// Returns true if a relocation writes the address of a symbol.
    pub(super) fn is_of_symbol(&self, kind: RelocationType) -> bool {
        self.slots.contains(&kind) || self.word == kind
    }

    /// Returns the field that a relocation of a debug section writes.
    pub(super) fn field(&self, kind: RelocationType) -> Option<&Field> {
        self.fields.iter().find(|field| field.kind == kind)
    }
}
