//! A rule as bytes, for storage across runs.

use crate::arch::{N_SLOTS, Processor};
use crate::rule::{Rule, SimpleRule};

/// A rule as bytes, the same on all machines.
///
/// ```text
///   0  kind: a normal frame, a signal frame, or the outermost frame
///   1  base register of the CFA
///   2  offset of the CFA from it, in bytes (i32, little-endian)
///   6  positions of saved registers, by slot, in words from the CFA (i8 each)
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RuleBytes(pub [u8; Self::SIZE]);

const SIMPLE: u8 = 0;
const SIGNAL: u8 = 1;
const OUTERMOST: u8 = 2;

/// Offset of the slots.
const SLOTS: usize = 6;

impl RuleBytes {
    /// Size of a rule, in bytes.
    pub const SIZE: usize = SLOTS + N_SLOTS;

    /// Returns the bytes of a rule; `None` for one that depends on data of the engine.
    pub(super) fn of(rule: Rule) -> Option<Self> {
        let mut bytes = [0; Self::SIZE];
        match rule {
            Rule::Simple(SimpleRule { cfa_register, signal, cfa_offset, saved }) => {
                let (head, slots) = bytes.split_first_chunk_mut::<SLOTS>()?;
                let [a, b, c, d] = cfa_offset.to_le_bytes();
                *head = [if signal { SIGNAL } else { SIMPLE }, cfa_register, a, b, c, d];
                slots.copy_from_slice(&saved.map(i8::cast_unsigned));
            }
            Rule::Outermost => bytes[0] = OUTERMOST,
            Rule::Full { .. } | Rule::OtherStack | Rule::NoInfo | Rule::Damaged => return None,
        }
        Some(Self(bytes))
    }

    /// Returns the rule of these bytes; `None` if the processor has no such rule.
    pub(super) fn rule(&self, arch: Processor) -> Option<Rule> {
        let (&[kind, cfa_register, a, b, c, d], slots) = self.0.split_first_chunk::<SLOTS>()?;
        if kind == OUTERMOST {
            let is_empty = self.0.iter().skip(1).all(|&byte| byte == 0);
            return is_empty.then_some(Rule::Outermost);
        }
        let saved = slots.first_chunk::<N_SLOTS>()?.map(u8::cast_signed);
        let are_slots = saved.iter().zip(&arch.slots).all(|(&words, &register)| {
            // A slot without a register cannot have been saved.
            words == 0 || register < arch.columns
        });
        let has_return_address = !arch.is_x86() || saved.first().is_some_and(|&words| words != 0);
        let fits = kind <= SIGNAL
            && arch.has_simple_rules
            && cfa_register < arch.columns
            && are_slots
            && has_return_address;
        let cfa_offset = i32::from_le_bytes([a, b, c, d]);
        let rule = SimpleRule { cfa_register, signal: kind == SIGNAL, cfa_offset, saved };
        fits.then_some(Rule::Simple(rule))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::{Arch, X86_64, processor};

    fn simple(signal: bool) -> Rule {
        let mut saved = [0; N_SLOTS];
        (saved[0], saved[1]) = (-1, -2);
        Rule::Simple(SimpleRule { cfa_register: 7, signal, cfa_offset: -0x1234, saved })
    }

    #[test]
    fn rules_come_back() {
        for rule in [simple(false), simple(true), Rule::Outermost] {
            let bytes = RuleBytes::of(rule).expect("it can be kept");
            assert_eq!(bytes.rule(X86_64), Some(rule));
        }
        let bytes = RuleBytes::of(simple(true)).expect("it can be kept");
        assert_eq!(bytes.0[..9], [1, 7, 0xcc, 0xed, 0xff, 0xff, 0xff, 0xfe, 0]);
        let others =
            [Rule::NoInfo, Rule::OtherStack, Rule::Damaged, Rule::Full { row: 0, signal: false }];
        assert_eq!(others.map(RuleBytes::of), [None; 4]);
    }

    #[test]
    fn what_no_processor_has_is_no_rule() {
        let whole = RuleBytes::of(simple(false)).expect("it can be kept");
        let with = |at: usize, value: u8| {
            let mut bytes = whole;
            bytes.0[at] = value;
            bytes
        };
        let last = RuleBytes::SIZE - 1;
        let of = |arch| processor(arch).expect("it is unwound");
        // Unknown kind, register or slot; no return address; an outermost frame that saves registers.
        for bytes in [with(0, 3), with(1, 200), with(last, 1), with(6, 0), with(0, 2)] {
            assert_eq!(bytes.rule(X86_64), None, "{bytes:?}");
        }
        assert_eq!(whole.rule(of(Arch::S390x)), None);
        // On that processor it can still be in its register.
        assert!(with(6, 0).rule(of(Arch::Aarch64)).is_some());
    }
}
