//! Unwind rules: how to step from a frame to its caller, as small values that are made once for each address and cached.
//! Running them is in `exec`, and the expressions of the rare rows that need them in `expression`.

mod exec;
mod expression;

use std::sync::Arc;

use image_store::LoadedImage;

use crate::arch::N_SLOTS;

pub(crate) use exec::{FrameExtent, SlotsRead, slot_at};

/// What to do at a looked-up address.
///
/// Most rows of real programs say: the frame begins at a register plus a constant, and registers were saved whole words
/// from there. Those are simple; the others are kept in a table of the engine. A rule takes three
/// words, which caches copy.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Rule {
    /// Register plus offset, saved registers whole words from there.
    Simple(SimpleRule),
    /// The row of that index in the engine's table of full rows.
    Full {
        /// The index.
        row: u32,
        /// It is the frame of a signal: the next pc was interrupted, not called from.
        signal: bool,
    },
    /// The outermost frame: the return address is stated to be undefined.
    Outermost,
    /// The function goes on on another stack: where its caller's frame is, only what was recorded can say.
    OtherStack,
    /// The file has no information for the address.
    NoInfo,
    /// The information is damaged, or says something unknown.
    Damaged,
}

const _: () = assert!(size_of::<Rule>() == 24);

/// The caller's stack pointer (CFA) is `cfa_register + cfa_offset`; each saved register is so many words of the processor
/// from there as its slot says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct SimpleRule {
    /// The register that the frame's address is counted from.
    pub(crate) cfa_register: u8,
    /// It is the frame of a signal: the next pc was interrupted, not called from.
    pub(crate) signal: bool,
    /// Bytes to add to the register.
    pub(crate) cfa_offset: i32,
    /// By slot of the architecture, in words from the CFA; 0 where the register was not saved. Slot 0 is the return
    /// address.
    pub(crate) saved: [i8; N_SLOTS],
}

impl SimpleRule {
    /// Where the return address was saved, in words from the CFA; 0 where it is still in its register.
    pub(crate) const fn return_address(&self) -> i8 {
        self.saved[0]
    }

    /// Calls `f` with the slot and the place, in words from the CFA, of each saved register, but for the return address.
    ///
    /// Slots are looked at eight at a time: few processors have registers in the second half.
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

/// A row that is no simple rule.
#[derive(Clone, Debug)]
pub(crate) struct FullRow {
    pub(crate) cfa: Cfa,
    pub(crate) registers: Vec<(u8, Recovery)>,
    /// The register that holds the return address after the step.
    pub(crate) return_address: u8,
}

impl FullRow {
    /// Bytes that it takes.
    pub(crate) const fn heap_bytes(&self) -> u64 {
        (size_of::<Self>() + self.registers.capacity() * size_of::<(u8, Recovery)>()) as u64
    }
}

/// What holds the bytes of a section of call frame information.
#[derive(Clone, Debug)]
pub(crate) enum SectionBytes {
    /// The file, and where in it the section begins.
    Image(Arc<LoadedImage>, usize),
    /// The section, which was unpacked.
    Section(Arc<Vec<u8>>),
}

/// The bytes of an expression, where they are in the file: rows share them.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    holder: SectionBytes,
    /// Where the expression is, in what holds it. Invariant: it is inside.
    start: usize,
    len: usize,
}

impl SectionBytes {
    /// The expression at an offset of the section.
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
    /// Its bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        let all = match &self.holder {
            SectionBytes::Image(file, _) => file.image().bytes(),
            SectionBytes::Section(bytes) => bytes,
        };
        let rest = all.get(self.start..).unwrap_or_default();
        rest.get(..self.len).unwrap_or_default()
    }
}

/// How the frame's address is found.
#[derive(Clone, Debug)]
pub(crate) enum Cfa {
    Register(u8, i64),
    Expression(Expression),
}

/// How a register of the caller is found. "Slot" means: at that address in memory.
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
