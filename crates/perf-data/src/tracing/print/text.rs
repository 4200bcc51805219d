//! The text of the conversion `%s`.

use super::evaluation::Evaluation;
use super::expression::{Expression, Kind, NameTable};
use super::number::{Layout, Output};
use crate::tracing::format::{TraceField, TraceKind};

/// Printer of the arguments of a sample.
#[derive(Debug)]
pub(super) struct Arguments<'a, 'r> {
    pub(super) evaluation: Evaluation<'r>,
    pub(super) printk: &'a [(u64, Box<[u8]>)],
    pub(super) out: Output,
}

impl Arguments<'_, '_> {
    /// Appends an expression as text. Numbers have none, unless they are the address of a constant text.
    pub(super) fn text(&mut self, expression: &Expression, layout: Layout<'_>) -> Option<()> {
        self.evaluation.step()?;
        match &expression.kind {
            Kind::Text(text) => self.out.text(until_nul(text), layout),
            Kind::Field(field) => self.field(field, layout),
            Kind::LocatedText(field) | Kind::LocatedArray(field) => {
                let text = self.evaluation.located(field)?;
                self.out.text(until_nul(text), layout)
            }
            Kind::LocatedBits(field) => self.bits(field, layout),
            Kind::Choice(parts) => {
                let chosen = self.evaluation.chosen(parts)?;
                self.text(chosen, layout)
            }
            Kind::Cast(_, operand) => self.text(operand, layout),
            Kind::Flags { value, separator, names } => {
                let value = self.evaluation.value(value)?;
                self.flags(value, separator, names, layout)
            }
            Kind::Symbol { value, names } => {
                let value = self.evaluation.value(value)?;
                self.symbol(value, names, layout)
            }
            Kind::Hex { parts, has_spaces } => {
                let [bytes, length] = &**parts;
                self.hex(bytes, length, *has_spaces)
            }
            Kind::Array(parts) => self.array(parts),
            Kind::Number(_)
            | Kind::LocatedLength(_)
            | Kind::Prefix(..)
            | Kind::Binary(..)
            | Kind::Dereference(_)
            | Kind::Index(_) => Some(()),
        }
    }

    /// Appends the characters of a field, or the constant text at the address in it.
    fn field(&mut self, field: &TraceField<'_>, layout: Layout<'_>) -> Option<()> {
        let bytes = match field.kind {
            TraceKind::Located(_) | TraceKind::Relative(_) => self.evaluation.located(field)?,
            _ => self.evaluation.field(field)?,
        };
        if field.kind != TraceKind::Number || field.size != self.evaluation.long_size {
            return self.out.text(until_nul(bytes), layout);
        }
        let address = self.evaluation.number(bytes);
        match self.printk.binary_search_by_key(&address, |(at, _)| *at) {
            Ok(at) => self.out.push(&self.printk.get(at)?.1),
            Err(_) => self.out.push(format!("{address:x}").as_bytes()),
        }
    }

    /// Appends the names of the bits of a value, then the rest of it in hexadecimal.
    fn flags(
        &mut self,
        value: u64,
        separator: &[u8],
        names: &NameTable,
        layout: Layout<'_>,
    ) -> Option<()> {
        let mut rest = value;
        let mut is_first = true;
        for (bits, name) in names {
            self.evaluation.step()?;
            if *bits < 0 && rest == 0 {
                self.out.text(name, layout)?;
                break;
            }
            if *bits > 0 && rest & *bits as u64 == *bits as u64 {
                if !is_first {
                    self.out.push(separator)?;
                }
                self.out.text(name, layout)?;
                is_first = false;
                rest &= !(*bits as u64);
            }
        }
        if rest == 0 {
            return Some(());
        }
        if !is_first {
            self.out.push(separator)?;
        }
        self.out.push(format!("{rest:#x}").as_bytes())
    }

    /// Appends the name of a number, or the number in hexadecimal.
    fn symbol(&mut self, value: u64, names: &NameTable, layout: Layout<'_>) -> Option<()> {
        for (number, name) in names {
            self.evaluation.step()?;
            if *number as u64 == value {
                return self.out.text(name, layout);
            }
        }
        self.out.push(format!("{value:#x}").as_bytes())
    }

    fn hex(&mut self, bytes: &Expression, length: &Expression, has_spaces: bool) -> Option<()> {
        let (bytes, _) = self.evaluation.array(bytes)?;
        let length = usize::try_from(self.evaluation.value(length)? as u32).ok()?;
        let separator: &[u8] = if has_spaces { b" " } else { b"" };
        self.bytes(bytes.get(..length)?, separator)
    }

    /// Appends bytes as two hexadecimal digits each.
    pub(super) fn bytes(&mut self, bytes: &[u8], separator: &[u8]) -> Option<()> {
        for (at, byte) in bytes.iter().enumerate() {
            if at > 0 {
                self.out.push(separator)?;
            }
            self.out.push(format!("{byte:02x}").as_bytes())?;
        }
        Some(())
    }

    /// Appends numbers in braces-free lists: decimal, with spaces between them.
    fn array(&mut self, parts: &[Expression; 3]) -> Option<()> {
        let [array, count, size] = parts;
        let (bytes, _) = self.evaluation.array(array)?;
        let count = usize::try_from(self.evaluation.value(count)? as u32).ok()?;
        let size = usize::try_from(self.evaluation.value(size)?).ok()?;
        if !matches!(size, 1 | 2 | 4 | 8) {
            return None;
        }
        let bytes = bytes.get(..count.checked_mul(size)?)?;
        for (at, element) in bytes.chunks_exact(size).enumerate() {
            if at > 0 {
                self.out.push(b" ")?;
            }
            let number = self.evaluation.number(element);
            self.out.push(number.to_string().as_bytes())?;
        }
        Some(())
    }

    /// Appends a mask of bits: the highest byte first, with a comma after each four bytes.
    fn bits(&mut self, field: &TraceField<'_>, layout: Layout<'_>) -> Option<()> {
        let bytes = self.evaluation.located(field)?;
        let is_little = self.evaluation.endian == crate::Endian::Little;
        let mut text = String::new();
        for at in (0..bytes.len()).rev() {
            self.evaluation.step()?;
            let byte = if is_little { bytes.get(at) } else { bytes.get(bytes.len() - 1 - at) };
            text += &format!("{:02x}", byte?);
            if at > 0 && at % 4 == 0 {
                text.push(',');
            }
        }
        self.out.text(text.as_bytes(), layout)
    }
}

/// Returns the bytes before the first NUL.
pub(super) fn until_nul(text: &[u8]) -> &[u8] {
    text.split(|&byte| byte == 0).next().unwrap_or_default()
}
