//! Tiny ELF files: segments, sections and symbols of tests, as literals.
//!
//! A section inside a loadable segment is placed by its address. So a file with different addresses and offsets (lld,
//! mold) is as easy to state as one with equal ones (bfd).

mod dynamic;
mod layout;
mod payload;

pub use dynamic::{DynamicTables, HashTables};
pub use payload::{gnu_build_id_note, gnu_debuglink};

use crate::bytes::Endian;

/// Word size of an ELF file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElfClass {
    /// ELF32.
    Elf32,
    /// ELF64.
    Elf64,
}

/// Numbers of the ELF headers.
///
/// Source: `elf.h`; System V ABI, chapters 4 and 5; the GNU and LLVM extensions.
#[allow(missing_docs, reason = "the names are those of elf.h")]
pub mod elf_const {
    pub const ET_EXEC: u16 = 2;
    pub const ET_DYN: u16 = 3;
    pub const EM_386: u16 = 3;
    pub const EM_PPC64: u16 = 21;
    pub const EM_S390: u16 = 22;
    pub const EM_ARM: u16 = 40;
    pub const EM_X86_64: u16 = 62;
    pub const EM_AARCH64: u16 = 183;
    pub const EM_RISCV: u16 = 243;
    pub const EM_LOONGARCH: u16 = 258;
    pub const PT_LOAD: u32 = 1;
    pub const PT_DYNAMIC: u32 = 2;
    pub const PT_NOTE: u32 = 4;
    pub const PT_GNU_EH_FRAME: u32 = 0x6474_e550;
    pub const PT_ARM_EXIDX: u32 = 0x7000_0001;
    pub const PF_X: u32 = 1;
    pub const PF_W: u32 = 2;
    pub const PF_R: u32 = 4;
    pub const SHT_PROGBITS: u32 = 1;
    pub const SHT_SYMTAB: u32 = 2;
    pub const SHT_STRTAB: u32 = 3;
    pub const SHT_NOTE: u32 = 7;
    pub const SHT_NOBITS: u32 = 8;
    pub const SHT_DYNSYM: u32 = 11;
    pub const SHF_WRITE: u64 = 1;
    pub const SHF_ALLOC: u64 = 2;
    pub const SHF_EXECINSTR: u64 = 4;
    pub const STT_NOTYPE: u8 = 0;
    pub const STT_OBJECT: u8 = 1;
    pub const STT_FUNC: u8 = 2;
    pub const STT_GNU_IFUNC: u8 = 10;
    pub const STB_LOCAL: u8 = 0;
    pub const STB_GLOBAL: u8 = 1;
    pub const STB_WEAK: u8 = 2;
}

/// A program header, field by field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of Elf64_Phdr")]
pub struct Segment {
    pub p_type: u32,
    pub flags: u32,
    pub offset: u64,
    pub vaddr: u64,
    pub filesz: u64,
    pub memsz: u64,
    pub align: u64,
}

impl Segment {
    /// Returns a readable and executable `PT_LOAD` with pages of 4 KiB.
    #[must_use]
    pub fn load_text(offset: u64, vaddr: u64, size: u64) -> Self {
        let flags = elf_const::PF_R | elf_const::PF_X;
        Self { flags, ..Self::load_rodata(offset, vaddr, size) }
    }

    /// Returns a readable `PT_LOAD` with pages of 4 KiB.
    #[must_use]
    pub fn load_rodata(offset: u64, vaddr: u64, size: u64) -> Self {
        Self {
            p_type: elf_const::PT_LOAD,
            flags: elf_const::PF_R,
            offset,
            vaddr,
            filesz: size,
            memsz: size,
            align: 0x1000,
        }
    }
}

/// A section with its content.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of Elf64_Shdr")]
pub struct Section {
    pub name: String,
    pub sh_type: u32,
    pub flags: u64,
    pub addr: u64,
    /// Offset of the bytes; `None` places them by the loadable segment around `addr`, else at the end.
    pub offset: Option<u64>,
    pub bytes: Vec<u8>,
    /// Stated size, if it differs from the true one, as in a section without bytes.
    pub stated_size: Option<u64>,
    pub align: u64,
    pub entsize: u64,
}

impl Section {
    /// Returns a section of `sh_type` that is not loaded.
    #[must_use]
    pub fn new(name: &str, sh_type: u32, bytes: Vec<u8>) -> Self {
        Self {
            name: name.to_owned(),
            sh_type,
            flags: 0,
            addr: 0,
            offset: None,
            bytes,
            stated_size: None,
            align: 1,
            entsize: 0,
        }
    }

    /// Returns `.text` at `addr`.
    #[must_use]
    pub fn text(addr: u64, bytes: Vec<u8>) -> Self {
        let flags = elf_const::SHF_ALLOC | elf_const::SHF_EXECINSTR;
        Self { flags, ..Self::loaded(".text", addr, bytes) }
    }

    /// Returns a readable program section at `addr`, such as `.eh_frame`.
    #[must_use]
    pub fn loaded(name: &str, addr: u64, bytes: Vec<u8>) -> Self {
        let flags = elf_const::SHF_ALLOC;
        Self { flags, addr, ..Self::new(name, elf_const::SHT_PROGBITS, bytes) }
    }
}

/// Section of a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SymbolSection {
    /// The section of that name.
    Section(String),
    /// `SHN_UNDEF`.
    Undefined,
    /// `SHN_ABS`.
    Absolute,
}

/// An entry of a symbol table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of Elf64_Sym")]
pub struct Symbol {
    pub name: String,
    pub value: u64,
    pub size: u64,
    pub kind: u8,
    pub binding: u8,
    /// `st_other`: the visibility in the low two bits.
    pub other: u8,
    pub section: SymbolSection,
}

impl Symbol {
    /// Returns a global function in `.text`.
    #[must_use]
    pub fn function(name: &str, value: u64, size: u64) -> Self {
        Self {
            name: name.to_owned(),
            value,
            size,
            kind: elf_const::STT_FUNC,
            binding: elf_const::STB_GLOBAL,
            other: 0,
            section: SymbolSection::Section(".text".to_owned()),
        }
    }
}

/// An ELF file as a literal; [`ElfBuilder::build`] gives its bytes.
///
/// ```
/// use synth::{ElfBuilder, Section, Segment, Symbol, elf_const};
/// // As lld lays it out: the text is one page further in memory than in the file.
/// let elf = ElfBuilder {
///     segments: vec![Segment::load_rodata(0, 0, 0x600), Segment::load_text(0x600, 0x1600, 0x10)],
///     sections: vec![Section::text(0x1600, vec![0xc3; 16])],
///     symbols: vec![Symbol::function("f", 0x1600, 16)],
///     ..ElfBuilder::x86_64()
/// };
/// let bytes = elf.build();
/// assert_eq!(bytes[0x600..0x610], [0xc3; 16]);
/// ```
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields are those of Elf64_Ehdr")]
pub struct ElfBuilder {
    pub class: ElfClass,
    pub endian: Endian,
    pub e_type: u16,
    pub e_machine: u16,
    pub e_entry: u64,
    pub e_flags: u32,
    pub segments: Vec<Segment>,
    pub sections: Vec<Section>,
    /// Symbols of `.symtab`; none omits `.symtab` and `.strtab`.
    pub symbols: Vec<Symbol>,
    /// Symbols of `.dynsym`; none omits `.dynsym` and `.dynstr`.
    pub dynamic_symbols: Vec<Symbol>,
    /// True to write section headers.
    pub section_headers: bool,
}

impl ElfBuilder {
    /// Returns an empty little-endian ELF64 shared object or PIE of x86-64.
    #[must_use]
    pub fn x86_64() -> Self {
        Self {
            class: ElfClass::Elf64,
            endian: Endian::Little,
            e_type: elf_const::ET_DYN,
            e_machine: elf_const::EM_X86_64,
            e_entry: 0,
            e_flags: 0,
            segments: Vec::new(),
            sections: Vec::new(),
            symbols: Vec::new(),
            dynamic_symbols: Vec::new(),
            section_headers: true,
        }
    }

    /// Same as [`Self::x86_64`] for aarch64.
    #[must_use]
    pub fn aarch64() -> Self {
        Self { e_machine: elf_const::EM_AARCH64, ..Self::x86_64() }
    }

    /// Same as [`Self::x86_64`] for 64-bit RISC-V.
    #[must_use]
    pub fn riscv64() -> Self {
        Self { e_machine: elf_const::EM_RISCV, ..Self::x86_64() }
    }

    /// Same as [`Self::x86_64`] for 64-bit `LoongArch`.
    #[must_use]
    pub fn loongarch64() -> Self {
        Self { e_machine: elf_const::EM_LOONGARCH, ..Self::x86_64() }
    }

    /// Returns an empty ELF32 shared object for 32-bit Arm.
    #[must_use]
    pub fn arm() -> Self {
        Self { class: ElfClass::Elf32, e_machine: elf_const::EM_ARM, ..Self::x86_64() }
    }

    /// Returns an empty ELF32 shared object for i386.
    #[must_use]
    pub fn x86() -> Self {
        Self { class: ElfClass::Elf32, e_machine: elf_const::EM_386, ..Self::x86_64() }
    }
}
