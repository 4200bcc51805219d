//! Expressions to numbers and bytes, by the raw data of a sample.

use std::cell::Cell;

use super::expression::{Expression, Kind, Target};
use super::operand::truncated;
use crate::bytes::Endian;
use crate::tracing::format::{TraceField, TraceKind};

/// Raw data of a sample, and the steps that its text may take.
#[derive(Debug)]
pub(super) struct Evaluation<'r> {
    pub(super) raw: &'r [u8],
    pub(super) endian: Endian,
    /// Size of a `long` of the recorded machine, in bytes.
    pub(super) long_size: usize,
    steps: Cell<u32>,
}

impl<'r> Evaluation<'r> {
    pub(super) const fn new(raw: &'r [u8], endian: Endian, long_size: usize, steps: u32) -> Self {
        Self { raw, endian, long_size, steps: Cell::new(steps) }
    }

    /// Counts a step; `None` if none is left.
    pub(super) fn step(&self) -> Option<()> {
        self.steps.set(self.steps.get().checked_sub(1)?);
        Some(())
    }

    /// Returns a number of 1, 2, 4 or 8 bytes; numbers of other sizes are 0.
    pub(super) fn number(&self, bytes: &[u8]) -> u64 {
        match *bytes {
            [byte] => byte.into(),
            [a, b] => self.endian.u16([a, b]).into(),
            [a, b, c, d] => self.endian.u32([a, b, c, d]).into(),
            [a, b, c, d, e, f, g, h] => self.endian.u64([a, b, c, d, e, f, g, h]),
            _ => 0,
        }
    }

    /// Returns the bytes of a field. A field of size 0 has the rest of the data.
    pub(super) fn field(&self, field: &TraceField<'_>) -> Option<&'r [u8]> {
        let rest = self.raw.get(field.offset..)?;
        if field.size == 0 { Some(rest) } else { rest.get(..field.size) }
    }

    /// Returns the bytes elsewhere in the data that a field states.
    pub(super) fn located(&self, field: &TraceField<'_>) -> Option<&'r [u8]> {
        let word = self.endian.u32_at(self.raw, field.offset)?;
        let base = match field.kind {
            TraceKind::Relative(_) => field.offset.checked_add(field.size)?,
            _ => 0,
        };
        let start = base.checked_add((word & 0xffff) as usize)?;
        self.raw.get(start..start.checked_add((word >> 16) as usize)?)
    }

    /// Returns the value of an expression; texts are 0. `None` if the data are too short or the steps are used up.
    pub(super) fn value(&self, expression: &Expression) -> Option<u64> {
        self.step()?;
        Some(match &expression.kind {
            Kind::Number(number) => *number,
            Kind::Field(field) => self.number(self.field(field)?),
            Kind::LocatedLength(field) => {
                u64::from(self.endian.u32_at(self.raw, field.offset)? >> 16)
            }
            Kind::Prefix(prefix, operand) => prefix.apply(self.value(operand)?),
            Kind::Binary(operator, parts) => {
                let [left, right] = &**parts;
                operator.apply(self.value(left)?, self.value(right)?)?
            }
            Kind::Choice(parts) => self.value(self.chosen(parts)?)?,
            Kind::Cast(Target::Number(size), operand) => truncated(self.value(operand)?, *size),
            Kind::Cast(Target::Pointer(_), operand) => self.value(operand)?,
            Kind::Dereference(pointer) => self.element(pointer, 0)?,
            Kind::Index(parts) => {
                let [array, index] = &**parts;
                self.element(array, self.value(index)?)?
            }
            Kind::Text(_)
            | Kind::LocatedText(_)
            | Kind::LocatedArray(_)
            | Kind::LocatedBits(_)
            | Kind::Flags { .. }
            | Kind::Symbol { .. }
            | Kind::Hex { .. }
            | Kind::Array(_) => 0,
        })
    }

    /// Returns the part of a choice that its condition selects.
    pub(super) fn chosen<'e>(&self, parts: &'e [Expression; 3]) -> Option<&'e Expression> {
        let [condition, if_true, if_false] = parts;
        Some(if self.value(condition)? != 0 { if_true } else { if_false })
    }

    /// Returns the bytes of an array, and the size of an element; `None` for other expressions.
    pub(super) fn array(&self, expression: &Expression) -> Option<(&'r [u8], usize)> {
        self.step()?;
        match &expression.kind {
            Kind::Field(field) => Some((self.field(field)?, field.element)),
            Kind::LocatedArray(field) | Kind::LocatedText(field) | Kind::LocatedBits(field) => {
                Some((self.located(field)?, field.element))
            }
            Kind::Cast(target, operand) => {
                let (bytes, element) = self.array(operand)?;
                Some(match target {
                    Target::Pointer(size) => (bytes, *size),
                    Target::Number(_) => (bytes, element),
                })
            }
            Kind::Choice(parts) => self.array(self.chosen(parts)?),
            _ => None,
        }
    }

    fn element(&self, array: &Expression, index: u64) -> Option<u64> {
        let (bytes, size) = self.array(array)?;
        let start = usize::try_from(index).ok()?.checked_mul(size)?;
        Some(self.number(bytes.get(start..start.checked_add(size)?)?))
    }
}
