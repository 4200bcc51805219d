//! The conversions of `%p`: addresses, functions of the kernel, addresses of networks, UUIDs, bytes.
//!
//! Source: `Documentation/core-api/printk-formats.rst`.

use super::expression::Expression;
use super::number::Layout;
use super::symbol::KernelAddress;
use super::text::Arguments;

/// Order of the bytes of a GUID.
///
/// Source: `lib/uuid.c`, `guid_index`.
const GUID: [usize; 16] = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
const UUID: [usize; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

impl Arguments<'_, '_> {
    /// Appends an expression as a pointer. `count` is the width that an argument states.
    pub(super) fn pointer(
        &mut self,
        expression: &Expression,
        count: Option<i32>,
        layout: Layout<'_>,
    ) -> Option<()> {
        let suffix = &*layout.conversion.suffix;
        match suffix {
            [b'F' | b'f' | b'S' | b's'] => {
                let address = self.evaluation.value(expression)?;
                let has_offset = matches!(suffix, [b'F' | b'S']);
                self.out.push(&KernelAddress { address, has_offset }.mark())
            }
            [b'M' | b'm', order @ ..] => {
                let mut bytes = *self.evaluation.array(expression)?.0.first_chunk::<6>()?;
                if order.contains(&b'R') {
                    bytes.reverse();
                }
                let separator: &[u8] = match suffix {
                    [b'm', ..] => b"",
                    _ if order.contains(&b'F') => b"-",
                    _ => b":",
                };
                self.bytes(&bytes, separator)
            }
            [b'I' | b'i', kind @ ..] if !kind.is_empty() => {
                let (bytes, _) = self.evaluation.array(expression)?;
                self.network_address(bytes, suffix)
            }
            [b'U', order @ ..] => {
                let (bytes, _) = self.evaluation.array(expression)?;
                self.uuid(bytes.first_chunk()?, order.first().copied())
            }
            [b'h', separator @ ..] => {
                let (bytes, _) = self.evaluation.array(expression)?;
                let count = usize::try_from(count.unwrap_or(1)).unwrap_or(0).min(bytes.len());
                let separator: &[u8] = match separator {
                    [b'C'] => b":",
                    [b'D'] => b"-",
                    [b'N'] => b"",
                    _ => b" ",
                };
                self.bytes(bytes.get(..count)?, separator)
            }
            [b'b', list @ ..] => {
                let (bytes, _) = self.evaluation.array(expression)?;
                let count = usize::try_from(count?).ok()?.min(8 * bytes.len());
                // Only lists of bits are used by formats.
                if list.is_empty() { None } else { self.bit_list(bytes, count) }
            }
            _ => {
                let address = self.evaluation.value(expression)?;
                let text = if address == 0 { "(nil)".to_owned() } else { format!("{address:#x}") };
                self.out.text(text.as_bytes(), layout)
            }
        }
    }

    fn uuid(&mut self, bytes: &[u8; 16], order: Option<u8>) -> Option<()> {
        let is_guid = matches!(order, Some(b'L' | b'l'));
        let is_upper = matches!(order, Some(b'L' | b'B'));
        for (at, index) in if is_guid { GUID } else { UUID }.into_iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                self.out.push(b"-")?;
            }
            let byte = bytes.get(index)?;
            let digits = if is_upper { format!("{byte:02X}") } else { format!("{byte:02x}") };
            self.out.push(digits.as_bytes())?;
        }
        Some(())
    }

    /// Appends the numbers of the bits that are set, with ranges: `0-3,7`.
    fn bit_list(&mut self, bytes: &[u8], count: usize) -> Option<()> {
        let is_little = self.evaluation.endian == crate::Endian::Little;
        let word = self.evaluation.long_size;
        let is_set = |bit: usize| {
            // Bits are numbered within words of the machine.
            let at = if is_little {
                bit / 8
            } else {
                bit / 8 / word * word + (word - 1 - bit / 8 % word)
            };
            bytes.get(at).is_some_and(|byte| byte & (1 << (bit % 8)) != 0)
        };
        let mut is_first = true;
        let mut bit = 0;
        while bit < count {
            if bit % 8 == 0 {
                self.evaluation.step()?;
            }
            if !is_set(bit) {
                bit += 1;
                continue;
            }
            let end = (bit..count).find(|&at| !is_set(at)).unwrap_or(count);
            let separator = if is_first { "" } else { "," };
            let text = match end - bit {
                1 => format!("{separator}{bit}"),
                _ => format!("{separator}{bit}-{}", end - 1),
            };
            self.out.push(text.as_bytes())?;
            (is_first, bit) = (false, end);
        }
        Some(())
    }
}
