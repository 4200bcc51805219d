//! Processors for cases under emulation: gdb's names of their registers, in perf's sampling order, and the facts that a
//! recording states about them.

use synth::{ElfBuilder, ElfClass, Endian, aarch64_reg, elf_const, riscv64_reg};

/// A processor under emulation.
pub(super) struct Processor {
    /// Its name in qemu.
    pub(super) name: &'static str,
    /// Output of `uname -m` on it.
    pub(super) uname: &'static str,
    /// gdb's names of the registers in the mask.
    pub(super) registers: &'static str,
    /// Set of sampled registers.
    pub(super) mask: u64,
    pub(super) endian: Endian,
    class: ElfClass,
    machine: u16,
    /// Bytes of the stack that are stored for each stop.
    pub(super) stack: u64,
    /// Number of instructions to step at its own places; `None` for those of `chain.c`.
    pub(super) steps: Option<u64>,
}

const AARCH64: Processor = Processor {
    name: "aarch64",
    uname: "aarch64",
    registers: "x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 x18 x19 x20 x21 x22 x23 x24 x25 x26 x27 \
                x28 x29 x30 sp pc",
    mask: aarch64_reg::USUAL_MASK,
    endian: Endian::Little,
    class: ElfClass::Elf64,
    machine: elf_const::EM_AARCH64,
    stack: 8192,
    steps: None,
};

const ALL: [Processor; 5] = [
    AARCH64,
    Processor {
        name: "riscv64",
        uname: "riscv64",
        registers: "pc ra sp gp tp t0 t1 t2 fp s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6",
        mask: riscv64_reg::USUAL_MASK,
        machine: elf_const::EM_RISCV,
        stack: 2048,
        steps: Some(12),
        ..AARCH64
    },
    Processor {
        name: "arm",
        uname: "armv7l",
        registers: "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 sp lr pc",
        mask: 0xffff,
        class: ElfClass::Elf32,
        machine: elf_const::EM_ARM,
        stack: 2048,
        steps: Some(12),
        ..AARCH64
    },
    Processor {
        name: "s390x",
        uname: "s390x",
        registers: "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 r13 r14 r15 f0 f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12 f13 \
                    f14 f15 pswm pc",
        mask: 0x3_ffff_ffff,
        endian: Endian::Big,
        machine: elf_const::EM_S390,
        stack: 2048,
        steps: Some(12),
        ..AARCH64
    },
    Processor {
        name: "ppc64le",
        uname: "ppc64le",
        registers: "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 r13 r14 r15 r16 r17 r18 r19 r20 r21 r22 r23 r24 r25 r26 \
                    r27 r28 r29 r30 r31 pc lr",
        mask: 0x11_ffff_ffff,
        machine: elf_const::EM_PPC64,
        stack: 2048,
        steps: Some(12),
        ..AARCH64
    },
];

impl Processor {
    /// Returns the processor of a name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        const PROCESSORS: &[Processor] = &ALL;
        PROCESSORS.iter().find(|processor| processor.name == name)
    }

    /// Returns true if a word has 64 bits.
    pub(super) fn is_wide(&self) -> bool {
        self.class == ElfClass::Elf64
    }

    /// Returns the index of a register among those of a stop.
    pub(super) fn position(&self, register: &str) -> usize {
        self.registers.split_whitespace().position(|name| name == register).unwrap_or(usize::MAX)
    }

    /// Returns the name of the stack pointer.
    pub(super) fn sp(&self) -> &'static str {
        match self.name {
            "s390x" => "r15",
            "ppc64le" => "r1",
            _ => "sp",
        }
    }

    /// Returns an empty ELF file of it.
    pub(super) fn elf(&self) -> ElfBuilder {
        ElfBuilder {
            class: self.class,
            endian: self.endian,
            e_machine: self.machine,
            ..ElfBuilder::x86_64()
        }
    }
}
