//! A frame as the tables or the instructions of 32-bit Arm describe it, and its conversion to a rule.

use std::sync::Arc;

use crate::arch::arm::{LR, PC, SP};
use crate::arch::{ARM, N_SLOTS};
use crate::cfi::compile::{CompiledRow, RowKey};
use crate::rule::{Cfa, FullRow, Recovery, Rule, SimpleRule};

/// Bit set of the registers that functions preserve, and the link register.
const PRESERVED: u16 = 1 << LR | 0x0ff0;

/// A frame: its CFA, and the registers saved in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct FrameLayout {
    /// Base register of the CFA; the CFA is `size` bytes above its value.
    pub(super) base: u8,
    pub(super) size: i64,
    /// Saved registers, each with its slot in bytes from the CFA. If a register was saved twice, the last slot counts.
    pub(super) saved: Vec<(u8, i64)>,
}

impl FrameLayout {
    /// Converts it to a rule. `key` identifies its full row, if it needs one.
    pub(super) fn compiled(mut self, key: RowKey) -> CompiledRow {
        let whole = |register: u8| register == PC || register == SP;
        if !self.saved.iter().any(|&(register, _)| whole(register)) {
            self.saved.retain(|&(register, _)| PRESERVED >> register & 1 != 0);
            if let Some(rule) = self.simple() {
                return CompiledRow::Rule(Rule::Simple(rule));
            }
        }
        let is_pc = self.saved.iter().any(|&(register, _)| register == PC);
        let slot = |(register, slot): (u8, i64)| (register, Recovery::SlotAtCfa(slot));
        let row = FullRow {
            cfa: Cfa::Register(self.base, self.size),
            registers: self.saved.into_iter().map(slot).collect(),
            return_address: if is_pc { PC } else { LR },
        };
        CompiledRow::Full(Arc::new(row), key, false)
    }

    fn simple(&self) -> Option<SimpleRule> {
        let arch = ARM;
        let word = arch.word.cast_signed();
        let mut saved = [0_i8; N_SLOTS];
        for &(register, slot) in &self.saved {
            let index = arch.slots.iter().position(|&known| known == register)?;
            let words = i8::try_from(slot / word).ok().filter(|&words| words < 0)?;
            *saved.get_mut(index)? = words;
        }
        let cfa_offset = i32::try_from(self.size).ok()?;
        Some(SimpleRule { cfa_register: self.base, signal: false, cfa_offset, saved })
    }
}
