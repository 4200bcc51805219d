//! Processor architectures, with the facts that no other crate owns: names, ELF numbers, widths, usual register sets.

use std::fmt;

/// Facts about an architecture.
struct ArchProperties {
    /// Name in output.
    name: &'static str,
    /// Machine names, as printed by `uname -m`.
    unames: &'static [&'static str],
    /// Common prefix of further machine names.
    uname_prefix: Option<&'static str>,
    e_machine: u16,
    /// Bits of an address; `None` if its programs have either 32 or 64.
    bits: Option<u32>,
    /// True if another architecture has the same `e_machine` in files of the other class.
    shares_e_machine: bool,
    /// The 32-bit architecture that its machines also run.
    compat: Option<Arch>,
    /// Usually sampled user registers, as bits of `sample_regs_user`, if no other architecture has the same set.
    usual_registers: Option<u64>,
}

macro_rules! processors {
    ($($(#[$doc:meta])* $variant:ident = $properties:expr,)*) => {
        /// A processor architecture: the instruction set and the word size.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Arch {
            $($(#[$doc])* $variant,)*
        }

        impl Arch {
            /// All architectures. Of two that share an `e_machine`, the 64-bit one comes first.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            const fn properties(self) -> &'static ArchProperties {
                match self {
                    $(Self::$variant => {
                        static PROPERTIES: ArchProperties = $properties;
                        &PROPERTIES
                    })*
                }
            }
        }
    };
}

// Sources: `uname -m` as in the kernel's `UTS_MACHINE`; gABI, `e_machine`;
// `PERF_REGS_MASK` of perf's `arch/*/include/perf_regs.h`.
// RISC-V and LoongArch have the same set of registers, so it identifies neither.
processors! {
    /// AMD64.
    X86_64 = ArchProperties {
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
    X86 = ArchProperties {
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
    Aarch64 = ArchProperties {
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
    Arm = ArchProperties {
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
    Riscv64 = ArchProperties {
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
    Riscv32 = ArchProperties {
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
    Loongarch64 = ArchProperties {
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
    S390x = ArchProperties {
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
    Powerpc64 = ArchProperties {
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
    Powerpc = ArchProperties {
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
    Mips = ArchProperties {
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
    /// Returns the architecture of a machine name as printed by `uname -m` and written by recorders.
    #[must_use]
    pub fn from_uname(name: &[u8]) -> Option<Self> {
        let is_name = |arch: &Self| arch.properties().unames.iter().any(|it| it.as_bytes() == name);
        let begins = |arch: &Self| {
            arch.properties().uname_prefix.is_some_and(|prefix| name.starts_with(prefix.as_bytes()))
        };
        let mut all = Self::ALL.iter().copied();
        all.clone().find(is_name).or_else(|| all.find(begins))
    }

    /// Returns the architecture of an ELF file, by its `e_machine` and the bits of its class, 32 or 64.
    /// If the class is unknown, assumes 64 bits.
    ///
    /// Source: gABI, "ELF Header", `e_machine` and `EI_CLASS`.
    #[must_use]
    pub fn from_elf(e_machine: u16, class_bits: Option<u32>) -> Option<Self> {
        let fits = |arch: &Self| {
            let ArchProperties { e_machine: own, bits, shares_e_machine, .. } = *arch.properties();
            own == e_machine && (!shares_e_machine || class_bits.is_none() || class_bits == bits)
        };
        Self::ALL.iter().copied().find(fits)
    }

    /// Guesses the architecture from the sampled user registers, as bits of `sample_regs_user`.
    #[must_use]
    pub fn from_usual_registers(mask: u64) -> Option<Self> {
        let is_usual = |arch: &Self| arch.properties().usual_registers == Some(mask);
        Self::ALL.iter().copied().find(is_usual)
    }

    /// Name in output, such as `x86_64`. Part of the interface: it does not change.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.properties().name
    }

    /// The `e_machine` of its ELF files.
    #[must_use]
    pub const fn e_machine(self) -> u16 {
        self.properties().e_machine
    }

    /// Bits of an address, 32 or 64; `None` if its programs have either.
    #[must_use]
    pub const fn bits(self) -> Option<u32> {
        self.properties().bits
    }

    /// The architecture of 32-bit processes on its machines, if known: `X86` for `X86_64`.
    #[must_use]
    pub const fn compat(self) -> Option<Self> {
        self.properties().compat
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

    /// The machine names and the file headers of each architecture lead back to it.
    #[test]
    fn each_is_found_by_its_own_facts() {
        for &arch in Arch::ALL {
            assert_eq!(Arch::from_elf(arch.e_machine(), arch.bits()), Some(arch));
            for name in arch.properties().unames {
                assert_eq!(Arch::from_uname(name.as_bytes()), Some(arch));
            }
            assert!(arch.compat().is_none_or(|narrow| narrow.bits() == Some(32)));
        }
    }
}
