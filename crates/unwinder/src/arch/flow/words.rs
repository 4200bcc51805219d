//! Instructions one after another, of the processors whose instructions are whole words or half words.

use crate::arch::Arch;
use crate::arch::flow::known::Known;
use crate::arch::flow::{Flow, Step, aarch64, arm, loongarch64, ppc64, riscv64, s390x};

/// An instruction of a length in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Decoded {
    pub(super) len: u8,
    pub(super) flow: Flow,
}

/// Instructions one after another, with the addresses that they put together in registers.
pub(super) struct Instructions<'a> {
    arch: Arch,
    code: &'a [u8],
    /// Where the rest of the code begins; of Thumb code with the lowest bit set.
    at: u64,
    /// Instructions that an IT of Thumb still makes conditional.
    conditional: u8,
    known: Known,
}

impl<'a> Instructions<'a> {
    pub(super) fn new(arch: Arch, code: &'a [u8], at: u64) -> Self {
        Self { arch, code, at, conditional: 0, known: Known::default() }
    }

    /// r2 of POWER has the address of the table of contents.
    pub(super) fn set_table_of_contents(&mut self, address: Option<u64>) {
        const R2: u32 = 2;
        if self.arch == Arch::Ppc64 {
            self.known.set_address(R2, address);
        }
    }

    /// A jump to the contents of a register.
    pub(super) fn leads_to(&self, register: u32) -> Flow {
        self.known.jump(register, 0)
    }

    /// The next instruction; `None` at the end of the code.
    pub(super) fn next(&mut self) -> Option<Step> {
        if self.code.is_empty() {
            return None;
        }
        let at = self.at;
        let stop = Decoded { len: u8::try_from(self.code.len()).unwrap_or(2), flow: Flow::Stop };
        let Decoded { len, flow } = self.decode().unwrap_or(stop);
        self.code = self.code.get(usize::from(len)..).unwrap_or_default();
        self.at = at.wrapping_add(len.into());
        Some(Step { at, next: self.at, flow })
    }

    fn decode(&mut self) -> Option<Decoded> {
        const THUMB: u64 = 1;
        let Self { code, at, known, .. } = self;
        match self.arch {
            Arch::Aarch64 => aarch64::step(code, *at, known),
            Arch::Riscv64 => riscv64::step(code, *at, known),
            Arch::Loongarch64 => loongarch64::step(code, *at, known),
            Arch::Ppc64 => ppc64::step(code, *at, known),
            Arch::S390x => s390x::step(code, *at, known),
            Arch::Arm if *at & THUMB != 0 => {
                arm::step_thumb(code, *at & !THUMB, &mut self.conditional, known)
            }
            Arch::Arm => arm::step_arm(code, *at, known),
            Arch::X86 | Arch::X86_64 => None,
        }
    }
}
