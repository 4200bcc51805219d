//! The recorded machine: its architecture, and the source of that information.

use address::Arch;

use super::features::Features;
use crate::bytes::Endian;
use crate::event::EventAttr;

/// Bit of the length of aarch64's vectors, which some recorders sample in addition to the usual registers.
///
/// Source: `PERF_REG_ARM64_VG` in `arch/arm64/include/uapi/asm/perf_regs.h`.
const VECTOR_LENGTH: u64 = 1 << 46;

/// Source of the architecture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MachineSource {
    /// The feature `E_MACHINE`.
    ElfMachine,
    /// The feature `ARCH`, the output of `uname -m`.
    Uname,
    /// A guess from the set of sampled registers.
    RegisterMask,
    /// The architecture is unknown.
    Nothing,
}

/// The recorded machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordedMachine {
    /// Architecture of the recorded kernel, if supported. A process can have a smaller one, see
    /// the ABI of its registers.
    pub arch: Option<Arch>,
    /// Byte order.
    pub endian: Endian,
    /// Source of the architecture.
    pub source: MachineSource,
}

impl RecordedMachine {
    pub(crate) fn detect<'a>(
        features: &Features<'_>,
        attrs: impl Iterator<Item = &'a EventAttr>,
        endian: Endian,
    ) -> Self {
        let e_machine = features.machine_code.and_then(|code| u16::try_from(code.e_machine).ok());
        let by_elf = || e_machine.and_then(|e_machine| Arch::from_elf(e_machine, None));
        let by_uname = || features.arch.and_then(Arch::from_uname);
        let by_registers = || {
            attrs
                .map(|attr| attr.sample_regs_user & !VECTOR_LENGTH)
                .find_map(Arch::from_usual_registers)
        };
        let of = |arch, source| Self { arch: Some(arch), endian, source };
        let nothing = Self { arch: None, endian, source: MachineSource::Nothing };
        by_elf()
            .map(|arch| of(arch, MachineSource::ElfMachine))
            .or_else(|| by_uname().map(|arch| of(arch, MachineSource::Uname)))
            .or_else(|| by_registers().map(|arch| of(arch, MachineSource::RegisterMask)))
            .unwrap_or(nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::super::feature_types::MachineCode;
    use super::*;

    #[test]
    fn the_surest_source_wins() {
        let attr =
            EventAttr { sample_regs_user: 0x00ff_0fff | VECTOR_LENGTH, ..EventAttr::default() };
        let mut features = Features::default();
        let detect = |features: &Features<'_>| {
            RecordedMachine::detect(features, [attr].iter(), Endian::Little)
        };
        let machine = detect(&features);
        assert_eq!(
            (machine.arch, machine.source),
            (Some(Arch::X86_64), MachineSource::RegisterMask)
        );
        features.arch = Some(b"armv7l");
        assert_eq!(
            (detect(&features).arch, detect(&features).source),
            (Some(Arch::Arm), MachineSource::Uname)
        );
        features.machine_code = Some(MachineCode { e_machine: 183, e_flags: 0 });
        assert_eq!(
            (detect(&features).arch, detect(&features).source),
            (Some(Arch::Aarch64), MachineSource::ElfMachine)
        );
    }
}
