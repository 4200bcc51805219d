//! Recent branches from the processor's branch records.
//!
//! Source: `include/uapi/linux/perf_event.h`, `struct perf_branch_entry`.

use address::Avma;

use crate::bytes::{Endian, Words};

/// Flag word of a branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BranchFlags {
    word: u64,
    endian: Endian,
}

macro_rules! branch_flags {
    ($($(#[$doc:meta])* $name:ident = $at:literal, $width:literal;)*) => {
        $($(#[$doc])*
        #[must_use]
        pub fn $name(&self) -> u16 {
            self.field($at, $width)
        })*
    };
}

impl BranchFlags {
    branch_flags! {
        /// 1 if the target was mispredicted.
        mispredicted = 0, 1;
        /// 1 if the target was predicted.
        predicted = 1, 1;
        /// 1 within a transaction.
        in_transaction = 2, 1;
        /// 1 if a transaction was aborted.
        abort = 3, 1;
        /// Cycles since the previous branch.
        cycles = 4, 16;
        /// Kind of branch, `PERF_BR_*`.
        kind = 20, 4;
        /// Outcome of speculation, `PERF_BR_SPEC_*`.
        speculation = 24, 2;
        /// More kinds of branch, `PERF_BR_NEW_*`.
        new_kind = 26, 4;
        /// Privilege of the target, `PERF_BR_PRIV_*`.
        privilege = 30, 3;
    }

    /// Extracts a bit-field, counted from the lowest bit on little-endian machines and from the
    /// highest on big-endian ones.
    fn field(self, at: u32, width: u32) -> u16 {
        let shift = if self.endian == Endian::Little { at } else { 64 - at - width };
        (self.word >> shift & ((1 << width) - 1)) as u16
    }
}

/// One branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Branch {
    /// Address of the branch instruction.
    pub from: Avma,
    /// Address of the target.
    pub to: Avma,
    /// Flags.
    pub flags: BranchFlags,
    /// Event counts since the previous branch, in a layout specific to the processor.
    pub counters: Option<u64>,
}

/// Recent branches, newest first.
#[derive(Clone, Copy, Debug)]
pub struct BranchStack<'d> {
    /// Index of the newest branch in the hardware's buffer.
    pub hw_index: Option<u64>,
    pub(crate) entries: Words<'d>,
    pub(crate) counters: Option<Words<'d>>,
    pub(crate) endian: Endian,
}

impl<'d> BranchStack<'d> {
    /// Number of branches.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len() / 3
    }

    /// Returns true if there are no branches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the branches.
    pub fn iter(&self) -> impl Iterator<Item = Branch> + use<'d> {
        let Self { entries, counters, endian, .. } = *self;
        (0..self.len()).filter_map(move |index| {
            let word = |at: usize| entries.get(index * 3 + at);
            Some(Branch {
                from: Avma(word(0)?),
                to: Avma(word(1)?),
                flags: BranchFlags { word: word(2)?, endian },
                counters: counters.and_then(|counters| counters.get(index)),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_in_both_byte_orders() {
        let little =
            BranchFlags { word: 1 | 0x1234 << 4 | 5 << 20 | 2 << 30, endian: Endian::Little };
        let big =
            BranchFlags { word: 1 << 63 | 0x1234 << 44 | 5 << 40 | 2 << 31, endian: Endian::Big };
        for flags in [little, big] {
            assert_eq!((flags.mispredicted(), flags.predicted()), (1, 0));
            assert_eq!((flags.cycles(), flags.kind(), flags.privilege()), (0x1234, 5, 2));
            assert_eq!(
                (flags.abort(), flags.in_transaction(), flags.speculation(), flags.new_kind()),
                (0, 0, 0, 0)
            );
        }
    }
}
