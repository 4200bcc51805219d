//! Numbers of the text, named constants, and results of operators.

use super::expression::{Operator, Prefix};

/// Constants that formats name although the kernel does not state their values.
///
/// Source: `include/linux/interrupt.h`, the softirqs; `include/linux/hrtimer_types.h`, `enum hrtimer_restart`.
const NAMED: [(&[u8], u64); 12] = [
    (b"HI_SOFTIRQ", 0),
    (b"TIMER_SOFTIRQ", 1),
    (b"NET_TX_SOFTIRQ", 2),
    (b"NET_RX_SOFTIRQ", 3),
    (b"BLOCK_SOFTIRQ", 4),
    (b"IRQ_POLL_SOFTIRQ", 5),
    (b"TASKLET_SOFTIRQ", 6),
    (b"SCHED_SOFTIRQ", 7),
    (b"HRTIMER_SOFTIRQ", 8),
    (b"RCU_SOFTIRQ", 9),
    (b"HRTIMER_NORESTART", 0),
    (b"HRTIMER_RESTART", 1),
];

/// Returns the value of a constant; `None` if it is unknown.
pub(super) fn named(name: &[u8]) -> Option<u64> {
    match name {
        b"true" => Some(1),
        b"false" | b"NULL" => Some(0),
        _ => NAMED.iter().find(|(known, _)| *known == name).map(|(_, value)| *value),
    }
}

/// Returns the value of a number with its prefix, without its suffix.
pub(super) fn number(token: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(token).ok()?.trim_end_matches(['u', 'U', 'l', 'L']);
    let lower = digits.to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0x") {
        u64::from_str_radix(hex, 16).ok()
    } else if let Some(octal) = lower.strip_prefix('0').filter(|octal| !octal.is_empty()) {
        u64::from_str_radix(octal, 8).ok()
    } else {
        lower.parse().ok()
    }
}

impl Prefix {
    /// Applies the operator.
    pub(super) const fn apply(self, value: u64) -> u64 {
        match self {
            Self::Negate => value.wrapping_neg(),
            Self::Complement => !value,
            Self::Not => (value == 0) as u64,
        }
    }
}

impl Operator {
    /// Applies the operator to unsigned numbers; `None` for a division by 0.
    pub(super) fn apply(self, left: u64, right: u64) -> Option<u64> {
        Some(match self {
            Self::Multiply => left.wrapping_mul(right),
            Self::Divide => left.checked_div(right)?,
            Self::Remainder => left.checked_rem(right)?,
            Self::Add => left.wrapping_add(right),
            Self::Subtract => left.wrapping_sub(right),
            Self::ShiftLeft => left.wrapping_shl(right as u32),
            Self::ShiftRight => left.wrapping_shr(right as u32),
            Self::Less => (left < right).into(),
            Self::LessEqual => (left <= right).into(),
            Self::Greater => (left > right).into(),
            Self::GreaterEqual => (left >= right).into(),
            Self::Equal => (left == right).into(),
            Self::NotEqual => (left != right).into(),
            Self::And => left & right,
            Self::ExclusiveOr => left ^ right,
            Self::Or => left | right,
            Self::BothTrue => (left != 0 && right != 0).into(),
            Self::AnyTrue => (left != 0 || right != 0).into(),
        })
    }
}
