//! Sampled registers: consecutive values, ascending by the bits of a mask.
//!
//! Source: `kernel/events/core.c`, `perf_output_sample_regs`; `arch/*/include/uapi/asm/perf_regs.h` for the bits.

use crate::bytes::Endian;

/// Width of the task that the registers belong to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegsAbi {
    /// `PERF_SAMPLE_REGS_ABI_32`.
    Bits32,
    /// `PERF_SAMPLE_REGS_ABI_64`.
    Bits64,
    /// A number that kernels do not write: the values are unreliable.
    Unknown(u64),
}

/// Sampled registers of a task.
#[derive(Clone, Copy, Debug)]
pub struct RecordedRegisters<'d> {
    abi: RegsAbi,
    mask: u64,
    values: &'d [u8],
    endian: Endian,
}

impl<'d> RecordedRegisters<'d> {
    /// Invariant: `values` has eight bytes for each bit of `mask`.
    pub(crate) fn new(abi: u64, mask: u64, values: &'d [u8], endian: Endian) -> Self {
        let abi = match abi {
            1 => RegsAbi::Bits32,
            2 => RegsAbi::Bits64,
            other => RegsAbi::Unknown(other),
        };
        Self { abi, mask, values, endian }
    }

    /// Width of the task.
    #[must_use]
    pub fn abi(&self) -> RegsAbi {
        self.abi
    }

    /// Mask of the sampled registers; its bits depend on the architecture.
    #[must_use]
    pub fn mask(&self) -> u64 {
        self.mask
    }

    /// Returns the value of a register by its bit number; `None` if it was not sampled.
    #[must_use]
    #[inline]
    pub fn get(&self, bit: u32) -> Option<u64> {
        let flag = 1_u64.checked_shl(bit)?;
        if self.mask & flag == 0 {
            return None;
        }
        let index = (self.mask & (flag - 1)).count_ones() as usize;
        self.endian.u64_at(self.values, index * 8)
    }

    /// Returns all registers as (bit number, value), ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> + Clone + use<'d> {
        let (mut mask, endian) = (self.mask, self.endian);
        let (words, _) = self.values.as_chunks::<8>();
        words.iter().map_while(move |&word| {
            let bit = (mask != 0).then(|| mask.trailing_zeros())?;
            mask &= mask - 1;
            Some((bit, endian.u64(word)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_bit() {
        let values: Vec<u8> =
            [10_u64, 13, 63].iter().flat_map(|value| value.to_le_bytes()).collect();
        let regs = RecordedRegisters::new(2, 1 << 63 | 0b1001, &values, Endian::Little);
        assert_eq!(regs.abi(), RegsAbi::Bits64);
        assert_eq!(
            [0, 1, 3, 63, 64, u32::MAX].map(|bit| regs.get(bit)),
            [Some(10), None, Some(13), Some(63), None, None]
        );
        assert_eq!(regs.iter().collect::<Vec<_>>(), [(0, 10), (3, 13), (63, 63)]);
        assert_eq!(RecordedRegisters::new(7, 0, &[], Endian::Little).abi(), RegsAbi::Unknown(7));
    }
}
