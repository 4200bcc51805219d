//! Compiled unwind rules: the few bytes that the hot loop runs, and the rare rows that do not fit into them.

mod exec;
mod expression;

use crate::arch::N_SLOTS;

pub(crate) use exec::{Passed, restore_saved, slot_at, step_full, step_packed};

/// What to do at a looked-up address, in three words, as it is in the cache.
///
/// Most rows of real programs say: the frame begins at a register plus a constant, and registers were saved at
/// multiples of eight from there. Those are packed; the others are kept in a table beside the cache.
///
/// ```text
///   word 0   bits 0-7 kind   8 signal   16-23 CFA register   32-63 CFA offset, or index of the full row
///   word 1   slots 0 to 7    where each register was saved, in words from the CFA; 0 where it was not
///   word 2   slots 8 to 15   slot 0 is the return address, the others are the architecture's
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rule {
    words: [u64; 3],
}

/// The kinds of rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum RuleKind {
    /// Register plus offset, saved registers at multiples of eight.
    Packed = 1,
    /// An index into the table of full rows.
    Complex = 2,
    /// The outermost frame: the return address is stated to be undefined.
    Outermost = 3,
    /// The file has no information for the address.
    None = 4,
    /// The information is damaged, or says something unknown.
    Bad = 5,
}

impl Rule {
    /// A rule that needs no more than its kind.
    pub(crate) const fn plain(kind: RuleKind) -> Self {
        Self { words: [kind as u64, 0, 0] }
    }

    /// Register plus offset. Invariant: a slot of 0 means that the register was not saved.
    pub(crate) fn packed(cfa_register: u8, cfa_offset: i32, saved: [i8; N_SLOTS]) -> Self {
        let head = RuleKind::Packed as u64
            | u64::from(cfa_register) << 16
            | u64::from(cfa_offset as u32) << 32;
        let half = |slots: &[i8]| {
            slots.iter().rev().fold(0, |word, &slot| word << 8 | u64::from(slot as u8))
        };
        let (low, high) = saved.split_at(8);
        Self { words: [head, half(low), half(high)] }
    }

    /// The full row of that index.
    pub(crate) fn complex(index: u32) -> Self {
        Self { words: [RuleKind::Complex as u64 | u64::from(index) << 32, 0, 0] }
    }

    /// The same rule for the frame of a signal: the next pc was interrupted, not called from.
    pub(crate) const fn of_signal(self, signal: bool) -> Self {
        let [head, low, high] = self.words;
        Self { words: [head | (signal as u64) << 8, low, high] }
    }

    pub(crate) const fn to_words(self) -> [u64; 3] {
        self.words
    }

    pub(crate) const fn kind(&self) -> RuleKind {
        match self.words[0] as u8 {
            1 => RuleKind::Packed,
            2 => RuleKind::Complex,
            3 => RuleKind::Outermost,
            4 => RuleKind::None,
            _ => RuleKind::Bad,
        }
    }

    pub(crate) const fn is_signal(&self) -> bool {
        self.words[0] >> 8 & 1 != 0
    }

    /// The register that the frame's address is counted from (packed).
    pub(crate) const fn cfa_register(&self) -> u8 {
        (self.words[0] >> 16) as u8
    }

    /// What to add to it (packed).
    pub(crate) const fn cfa_offset(&self) -> i32 {
        (self.words[0] >> 32) as i32
    }

    /// The index of the full row (complex).
    pub(crate) const fn row(&self) -> u32 {
        (self.words[0] >> 32) as u32
    }

    /// Where the return address was saved, in words from the CFA; 0 where it is still in its register.
    pub(crate) const fn return_address(&self) -> i8 {
        self.words[1] as i8
    }

    /// Calls `f` with the slot and the place, in words from the CFA, of each saved register but the return address.
    #[inline]
    pub(crate) fn for_each_saved(&self, mut f: impl FnMut(usize, i8)) {
        for (base, mut word) in [(0, self.words[1] & !0xff), (8, self.words[2])] {
            while word != 0 {
                let byte = word.trailing_zeros() / 8;
                f(base + byte as usize, (word >> (8 * byte)) as i8);
                word &= !(0xff << (8 * byte));
            }
        }
    }
}

/// A row that does not fit into a packed rule.
#[derive(Clone, Debug)]
pub(crate) struct FullRow {
    pub(crate) cfa: Cfa,
    pub(crate) registers: Vec<(u8, Recovery)>,
    /// The register that holds the return address after the step.
    pub(crate) return_address: u8,
}

/// How the frame's address is found.
#[derive(Clone, Debug)]
pub(crate) enum Cfa {
    Register(u8, i64),
    Expression(Box<[u8]>),
}

/// How a register of the caller is found. "Slot" means: at that address in memory.
#[derive(Clone, Debug)]
pub(crate) enum Recovery {
    Undefined,
    Same,
    SlotAtCfa(i64),
    CfaPlus(i64),
    Register(u8),
    SlotAtExpression(Box<[u8]>),
    Expression(Box<[u8]>),
    Constant(u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_rule_gives_back_what_it_was_made_of() {
        let mut saved = [0; N_SLOTS];
        saved[0] = -1;
        saved[1] = -128;
        saved[7] = 3;
        saved[9] = 127;
        saved[15] = -7;
        for (register, offset, signal) in [(7, 16, false), (31, i32::MIN, true), (0, -1, true)] {
            let rule = Rule::packed(register, offset, saved).of_signal(signal);
            assert_eq!((rule.kind(), rule.is_signal()), (RuleKind::Packed, signal));
            assert_eq!(
                (rule.cfa_register(), rule.cfa_offset(), rule.return_address()),
                (register, offset, -1)
            );
            let mut found = [0; N_SLOTS];
            found[0] = rule.return_address();
            rule.for_each_saved(|slot, words| found[slot] = words);
            assert_eq!(found, saved);
        }
    }

    #[test]
    fn other_rules() {
        for kind in [RuleKind::Outermost, RuleKind::None, RuleKind::Bad] {
            assert_eq!(Rule::plain(kind).kind(), kind);
        }
        let rule = Rule::complex(u32::MAX).of_signal(true);
        assert_eq!(
            (rule.kind(), rule.row(), rule.is_signal()),
            (RuleKind::Complex, u32::MAX, true)
        );
    }
}
