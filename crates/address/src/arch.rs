//! The processors, and the facts about each that no other crate owns: names, ELF numbers, widths, usual register sets.

use std::fmt;

/// The facts about a processor.
struct Facts {
    /// The word in output.
    name: &'static str,
    /// Names of its machines, as `uname -m` prints them.
    unames: &'static [&'static str],
    /// What further names of its machines begin with.
    uname_prefix: Option<&'static str>,
    e_machine: u16,
    /// Bits of an address; `None` if its programs have either 32 or 64.
    bits: Option<u32>,
    /// Whether another processor has the same `e_machine` in files of the other class.
    shares_e_machine: bool,
    /// The 32-bit processor whose programs its machines run, too.
    compat: Option<Arch>,
    /// The user registers that recorders sample, as bits of `sample_regs_user`, if no other processor has the same set.
    usual_registers: Option<u64>,
}

macro_rules! processors {
    ($($(#[$doc:meta])* $variant:ident = $facts:expr,)*) => {
        /// A processor: its instruction set, and the width of its words.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Arch {
            $($(#[$doc])* $variant,)*
        }

        impl Arch {
            /// Every processor. Of two that share an `e_machine`, the one of 64 bits comes first.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            const fn facts(self) -> &'static Facts {
                match self {
                    $(Self::$variant => {
                        static FACTS: Facts = $facts;
                        &FACTS
                    })*
                }
            }
        }
    };
}

// Sources: `uname -m` as the kernel's `UTS_MACHINE` has it; gABI, `e_machine`; `PERF_REGS_MASK` of perf's
// `arch/*/include/perf_regs.h`. RISC-V and LoongArch have the same set of registers, so that says nothing.
processors! {
    /// AMD64.
    X86_64 = Facts {
        name: "x86_64",
        unames: &["x86_64", "amd64"],
        uname_prefix: None,
        e_machine: 62,
        bits: Some(64),
        // x32
        shares_e_machine: true,
        compat: Some(Arch::X86),
        usual_registers: Some(0x00ff_0fff),
    },
    /// 32-bit x86.
    X86 = Facts {
        name: "x86",
        unames: &["i386", "i486", "i586", "i686", "x86"],
        uname_prefix: None,
        e_machine: 3,
        bits: Some(32),
        shares_e_machine: false,
        compat: Some(Arch::X86),
        usual_registers: Some(0x0000_0fff),
    },
    /// 64-bit Arm.
    Aarch64 = Facts {
        name: "aarch64",
        unames: &["aarch64", "arm64", "aarch64_be"],
        uname_prefix: None,
        e_machine: 183,
        bits: Some(64),
        // ILP32
        shares_e_machine: true,
        compat: Some(Arch::Arm),
        usual_registers: Some(0x0001_ffff_ffff),
    },
    /// 32-bit Arm.
    Arm = Facts {
        name: "arm",
        unames: &[],
        uname_prefix: Some("arm"),
        e_machine: 40,
        bits: Some(32),
        shares_e_machine: false,
        compat: Some(Arch::Arm),
        usual_registers: Some(0x0000_ffff),
    },
    /// 64-bit RISC-V.
    Riscv64 = Facts {
        name: "riscv64",
        unames: &["riscv64"],
        uname_prefix: None,
        e_machine: 243,
        bits: Some(64),
        shares_e_machine: true,
        compat: Some(Arch::Riscv32),
        usual_registers: None,
    },
    /// 32-bit RISC-V.
    Riscv32 = Facts {
        name: "riscv32",
        unames: &["riscv32"],
        uname_prefix: None,
        e_machine: 243,
        bits: Some(32),
        shares_e_machine: true,
        compat: Some(Arch::Riscv32),
        usual_registers: None,
    },
    /// 64-bit `LoongArch`.
    Loongarch64 = Facts {
        name: "loongarch64",
        unames: &["loongarch64"],
        uname_prefix: None,
        e_machine: 258,
        bits: Some(64),
        shares_e_machine: true,
        compat: None,
        usual_registers: None,
    },
    /// 64-bit IBM Z.
    S390x = Facts {
        name: "s390x",
        unames: &["s390x"],
        uname_prefix: None,
        e_machine: 22,
        bits: Some(64),
        // s390, of 31 bits
        shares_e_machine: true,
        compat: None,
        usual_registers: Some(0x0003_ffff_ffff),
    },
    /// 64-bit POWER, either byte order.
    Powerpc64 = Facts {
        name: "powerpc64",
        unames: &["ppc64", "ppc64le"],
        uname_prefix: None,
        e_machine: 21,
        bits: Some(64),
        shares_e_machine: false,
        compat: Some(Arch::Powerpc),
        usual_registers: None,
    },
    /// 32-bit `PowerPC`.
    Powerpc = Facts {
        name: "powerpc",
        unames: &["ppc"],
        uname_prefix: None,
        e_machine: 20,
        bits: Some(32),
        shares_e_machine: false,
        compat: Some(Arch::Powerpc),
        usual_registers: None,
    },
    /// MIPS, any width.
    Mips = Facts {
        name: "mips",
        unames: &[],
        uname_prefix: Some("mips"),
        e_machine: 8,
        bits: None,
        shares_e_machine: false,
        compat: None,
        usual_registers: None,
    },
}

impl Arch {
    /// The processor of a machine by the name that `uname -m` prints, as recorders write it.
    #[must_use]
    pub fn from_uname(name: &[u8]) -> Option<Self> {
        let is_name = |arch: &Self| arch.facts().unames.iter().any(|it| it.as_bytes() == name);
        let begins = |arch: &Self| {
            arch.facts().uname_prefix.is_some_and(|prefix| name.starts_with(prefix.as_bytes()))
        };
        let mut all = Self::ALL.iter().copied();
        all.clone().find(is_name).or_else(|| all.find(begins))
    }

    /// The processor of an ELF file, by its `e_machine` and the bits of its class, 32 or 64. If the class is not known,
    /// the processor is taken as one of 64 bits.
    ///
    /// Source: gABI, "ELF Header", `e_machine` and `EI_CLASS`.
    #[must_use]
    pub fn from_elf(e_machine: u16, class_bits: Option<u32>) -> Option<Self> {
        let fits = |arch: &Self| {
            let Facts { e_machine: own, bits, shares_e_machine, .. } = *arch.facts();
            own == e_machine && (!shares_e_machine || class_bits.is_none() || class_bits == bits)
        };
        Self::ALL.iter().copied().find(fits)
    }

    /// A guess by the set of user registers that a recorder sampled, as bits of `sample_regs_user`.
    #[must_use]
    pub fn from_usual_registers(mask: u64) -> Option<Self> {
        let is_usual = |arch: &Self| arch.facts().usual_registers == Some(mask);
        Self::ALL.iter().copied().find(is_usual)
    }

    /// The word for it in output, such as `x86_64`. It is interface: it does not change.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// The `e_machine` of its ELF files.
    #[must_use]
    pub const fn e_machine(self) -> u16 {
        self.facts().e_machine
    }

    /// Bits of an address, 32 or 64; `None` if its programs have either.
    #[must_use]
    pub const fn bits(self) -> Option<u32> {
        self.facts().bits
    }

    /// The processor that a 32-bit process of its machines is of, if such processes are known: `X86` of `X86_64`.
    #[must_use]
    pub const fn compat(self) -> Option<Self> {
        self.facts().compat
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_machines() {
        for (name, arch) in [
            ("x86_64", Some(Arch::X86_64)),
            ("amd64", Some(Arch::X86_64)),
            ("i686", Some(Arch::X86)),
            ("aarch64", Some(Arch::Aarch64)),
            // Exact names come before prefixes.
            ("arm64", Some(Arch::Aarch64)),
            ("armv7l", Some(Arch::Arm)),
            ("riscv64", Some(Arch::Riscv64)),
            ("riscv32", Some(Arch::Riscv32)),
            ("loongarch64", Some(Arch::Loongarch64)),
            ("s390x", Some(Arch::S390x)),
            ("ppc64le", Some(Arch::Powerpc64)),
            ("ppc", Some(Arch::Powerpc)),
            ("mips64", Some(Arch::Mips)),
            ("sparc64", None),
            ("", None),
        ] {
            assert_eq!(Arch::from_uname(name.as_bytes()), arch, "{name}");
        }
    }

    #[test]
    fn numbers_of_files() {
        for (number, class_bits, arch) in [
            (62, Some(64), Some(Arch::X86_64)),
            (62, Some(32), None),
            (183, Some(64), Some(Arch::Aarch64)),
            (183, Some(32), None),
            (3, Some(32), Some(Arch::X86)),
            (40, Some(32), Some(Arch::Arm)),
            (243, Some(64), Some(Arch::Riscv64)),
            (243, Some(32), Some(Arch::Riscv32)),
            (243, None, Some(Arch::Riscv64)),
            (22, Some(64), Some(Arch::S390x)),
            (22, Some(32), None),
            (21, Some(64), Some(Arch::Powerpc64)),
            (20, Some(32), Some(Arch::Powerpc)),
            (258, Some(64), Some(Arch::Loongarch64)),
            (8, Some(32), Some(Arch::Mips)),
            (8, Some(64), Some(Arch::Mips)),
            (2, Some(32), None),
            (0, None, None),
        ] {
            assert_eq!(Arch::from_elf(number, class_bits), arch, "{number} {class_bits:?}");
            assert!(arch.is_none_or(|arch| arch.e_machine() == number));
        }
    }

    #[test]
    fn sets_of_registers() {
        assert_eq!(Arch::from_usual_registers(0x0001_ffff_ffff), Some(Arch::Aarch64));
        assert_eq!(Arch::from_usual_registers(0xffff_ffff), None);
        assert_eq!(Arch::from_usual_registers(0), None);
    }

    /// The names of its machines, and the header of its files, lead back to it.
    #[test]
    fn each_is_found_by_its_own_facts() {
        for &arch in Arch::ALL {
            assert_eq!(Arch::from_elf(arch.e_machine(), arch.bits()), Some(arch));
            for name in arch.facts().unames {
                assert_eq!(Arch::from_uname(name.as_bytes()), Some(arch));
            }
            assert!(arch.compat().is_none_or(|narrow| narrow.bits() == Some(32)));
        }
    }
}
