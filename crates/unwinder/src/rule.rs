//! Compiled unwind rules: the few bytes that the hot loop runs, and the rare rows that do not fit into them.

use crate::arch::N_SLOTS;

/// What to do at a looked-up address. Three words, copied out of the cache in one go.
///
/// Most rows of real programs say: the frame begins at a register plus a constant, and registers were saved at
/// multiples of eight from there. Those are packed; the others are kept in a table beside the cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rule {
    pub(crate) kind: RuleKind,
    /// The interrupted frame of a signal: the next pc is exact.
    pub(crate) signal: bool,
    /// The register that the frame's address is counted from (packed).
    pub(crate) cfa_register: u8,
    /// What to add to it (packed), or the index of the row (complex).
    pub(crate) cfa_offset: i32,
    /// For each slot of the architecture, where the register was saved in words from the frame's address (the CFA);
    /// 0 where it was not. Slot 0 is the return address.
    pub(crate) saved: [i8; N_SLOTS],
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
    pub(crate) const fn plain(kind: RuleKind) -> Self {
        Self { kind, signal: false, cfa_register: 0, cfa_offset: 0, saved: [0; N_SLOTS] }
    }

    /// The rule as three words.
    pub(crate) fn to_words(self) -> [u64; 3] {
        let head = self.kind as u64
            | u64::from(self.signal) << 8
            | u64::from(self.cfa_register) << 16
            | u64::from(self.cfa_offset as u32) << 32;
        let half = |range: std::ops::Range<usize>| {
            self.saved[range].iter().rev().fold(0, |word, &slot| word << 8 | u64::from(slot as u8))
        };
        [head, half(0..8), half(8..16)]
    }

    /// The rule of three words that [`Self::to_words`] made.
    #[inline]
    pub(crate) fn from_words(words: [u64; 3]) -> Self {
        let kind = match words[0] as u8 {
            1 => RuleKind::Packed,
            2 => RuleKind::Complex,
            3 => RuleKind::Outermost,
            4 => RuleKind::None,
            _ => RuleKind::Bad,
        };
        let mut saved = [0; N_SLOTS];
        let bytes = words[1].to_le_bytes().into_iter().chain(words[2].to_le_bytes());
        saved.iter_mut().zip(bytes).for_each(|(slot, byte)| *slot = byte as i8);
        Self {
            kind,
            signal: words[0] >> 8 & 1 != 0,
            cfa_register: (words[0] >> 16) as u8,
            cfa_offset: (words[0] >> 32) as i32,
            saved,
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
    fn a_rule_survives_the_cache() {
        let mut saved = [0; N_SLOTS];
        saved[0] = -1;
        saved[1] = -128;
        saved[9] = 127;
        saved[15] = -7;
        for kind in [
            RuleKind::Packed,
            RuleKind::Complex,
            RuleKind::Outermost,
            RuleKind::None,
            RuleKind::Bad,
        ] {
            for (cfa_register, cfa_offset, signal) in
                [(7, 16, false), (31, i32::MIN, true), (0, -1, true)]
            {
                let rule = Rule { kind, signal, cfa_register, cfa_offset, saved };
                assert_eq!(Rule::from_words(rule.to_words()), rule);
                assert_ne!(rule.to_words()[0], 0);
            }
        }
    }
}
