//! Unwind rules: steps from a frame to its caller, as small values that are made once for each address and cached.
//! Their execution is in `exec`, the expressions of the rare rows that need them in `expression`.

mod exec;
mod expression;

use std::sync::Arc;

use image_store::LoadedImage;

use crate::arch::N_SLOTS;

pub(crate) use exec::{FrameExtent, SlotsRead, slot_at};

/// The unwind rule of a looked-up address.
///
/// In most rows of real programs, the CFA is a register plus a constant, and registers were saved whole words from
/// there. Those are simple rules; other rows are stored in a table of the engine. A rule takes three words, which
/// caches copy.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Rule {
    /// The CFA is a register plus an offset; registers were saved whole words from there.
    Simple(SimpleRule),
    /// A row in the engine's table of full rows.
    Full {
        /// Index of the row.
        row: u32,
        /// True for a signal frame: the next pc was interrupted, not called from.
        signal: bool,
    },
    /// The outermost frame: its return address is stated to be undefined.
    Outermost,
    /// The function continues on another stack: only recorded data can locate its caller's frame.
    OtherStack,
    /// The file has no information for the address.
    NoInfo,
    /// The information is damaged, or contains something unknown.
    Damaged,
}

const _: () = assert!(size_of::<Rule>() == 24);

/// The CFA, the caller's stack pointer, is `cfa_register + cfa_offset`. Each saved register is a number of words from
/// there, by its slot of the processor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct SimpleRule {
    /// Base register of the CFA.
    pub(crate) cfa_register: u8,
    /// True for a signal frame: the next pc was interrupted, not called from.
    pub(crate) signal: bool,
    /// Offset of the CFA from the register, in bytes.
    pub(crate) cfa_offset: i32,
    /// Position of each register by slot of the architecture, in words from the CFA; 0 if it was not saved. Slot 0 is
    /// the return address.
    pub(crate) saved: [i8; N_SLOTS],
}

impl SimpleRule {
    /// Position of the return address, in words from the CFA; 0 if it is still in its register.
    pub(crate) const fn return_address(&self) -> i8 {
        self.saved[0]
    }

    /// Calls `f` with the slot and the position, in words from the CFA, of each saved register except the return
    /// address.
    ///
    /// Slots are examined eight at a time: few processors have registers in the second half.
    #[inline]
    pub(crate) fn for_each_saved(&self, mut f: impl FnMut(usize, i8)) {
        let slots = u128::from_le_bytes(self.saved.map(i8::cast_unsigned));
        let first = slots as u64 >> 8 << 8;
        for (base, mut word) in [(0, first), (8, (slots >> 64) as u64)] {
            while word != 0 {
                let byte = word.trailing_zeros() / 8;
                f(base + byte as usize, (word >> (8 * byte)) as i8);
                word &= !(0xff << (8 * byte));
            }
        }
    }
}

/// A row that is not a simple rule.
#[derive(Clone, Debug)]
pub(crate) struct FullRow {
    pub(crate) cfa: Cfa,
    pub(crate) registers: Vec<(u8, Recovery)>,
    /// The register that holds the return address after the step.
    pub(crate) return_address: u8,
}

impl FullRow {
    /// Size in memory, in bytes.
    pub(crate) const fn heap_bytes(&self) -> u64 {
        (size_of::<Self>() + self.registers.capacity() * size_of::<(u8, Recovery)>()) as u64
    }
}

/// The owner of the bytes of a section of call frame information.
#[derive(Clone, Debug)]
pub(crate) enum SectionBytes {
    /// The file, and the offset of the section in it.
    Image(Arc<LoadedImage>, usize),
    /// The unpacked section.
    Section(Arc<Vec<u8>>),
}

/// The bytes of an expression, in place in the file: rows share them.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    holder: SectionBytes,
    /// Offset of the expression in its holder. Invariant: it is in range.
    start: usize,
    len: usize,
}

impl SectionBytes {
    /// Returns the expression at an offset of the section.
    pub(crate) fn expression(&self, offset: usize, len: usize) -> Option<Expression> {
        let start = match self {
            Self::Image(_, section) => section.checked_add(offset)?,
            Self::Section(_) => offset,
        };
        let expression = Expression { holder: self.clone(), start, len };
        (expression.bytes().len() == len).then_some(expression)
    }
}

impl Expression {
    /// Returns the bytes of the expression.
    pub(crate) fn bytes(&self) -> &[u8] {
        let all = match &self.holder {
            SectionBytes::Image(file, _) => file.image().bytes(),
            SectionBytes::Section(bytes) => bytes,
        };
        let rest = all.get(self.start..).unwrap_or_default();
        rest.get(..self.len).unwrap_or_default()
    }
}

/// The definition of a frame's CFA.
#[derive(Clone, Debug)]
pub(crate) enum Cfa {
    Register(u8, i64),
    Expression(Expression),
}

/// The location of a caller's register. "Slot" means a word in memory at that address.
#[derive(Clone, Debug)]
pub(crate) enum Recovery {
    Undefined,
    Same,
    SlotAtCfa(i64),
    CfaPlus(i64),
    Register(u8),
    SlotAtExpression(Expression),
    Expression(Expression),
    Constant(u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_saved_registers_of_a_simple_rule() {
        let mut saved = [0; N_SLOTS];
        saved[0] = -1;
        saved[1] = -128;
        saved[7] = 3;
        saved[8] = 1;
        saved[9] = 127;
        saved[15] = -7;
        let rule = SimpleRule { cfa_register: 7, signal: false, cfa_offset: 16, saved };
        assert_eq!(rule.return_address(), -1);
        let mut found = Vec::new();
        rule.for_each_saved(|slot, words| found.push((slot, words)));
        assert_eq!(found, [(1, -128), (7, 3), (8, 1), (9, 127), (15, -7)]);
    }
}
