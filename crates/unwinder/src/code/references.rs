//! References to a function in the code of its own file: direct calls, jumps, and instructions that take its address.
//!
//! Source: Intel SDM, volume 2, "CALL", "JMP", "Jcc", "LEA", "MOV".

use std::sync::Arc;

use image_store::SlotValue;

use crate::arch::Arch;
use crate::code::bytes::CodeBytes;
use crate::code::called::{FunctionAnalyses, ImageAddress, MAX_CACHED};

/// References to a function.
#[derive(Debug, Default)]
pub(crate) struct References {
    /// Return addresses of its direct calls, as the file states them.
    pub(crate) calls: Vec<u64>,
    /// True if other code jumps to it, so that it may return to callers of that code.
    pub(crate) is_jumped_to: bool,
    /// True if its address is taken, so that it can be called through a pointer.
    pub(crate) is_taken: bool,
    /// True if other files can call it by its name.
    pub(crate) is_exported: bool,
    /// True if it has more calls than are listed.
    pub(crate) has_more: bool,
}

impl References {
    /// Returns true if more than its direct calls can lead to the function.
    pub(crate) const fn has_others(&self) -> bool {
        self.is_jumped_to || self.is_taken || self.is_exported || self.has_more
    }
}

/// Maximum number of listed calls of a function.
const MOST_CALLS: usize = 512;
/// Number of bytes searched at the cost of one decoded instruction.
const BYTES: usize = 16;
/// Number of table entries searched at that cost.
const ENTRIES: usize = 16;

impl FunctionAnalyses {
    /// Returns the references to the function that begins at an address; `None` if the code cannot be read or the
    /// budget is exhausted.
    pub(crate) fn references(&mut self, function: ImageAddress<'_>) -> Option<Arc<References>> {
        let key = (function.file.serial, function.svma.0);
        if let Some(known) = self.references.get(&key) {
            return Some(Arc::clone(known));
        }
        if self.references.len() >= MAX_CACHED {
            self.references.clear();
        }
        if !self.allowance.has_left(function.file) {
            return None;
        }
        let code = CodeBytes::around(function.file.image(), function.svma)?;
        let mut found = code.references(function.svma.0);
        self.allowance.used(function.file, code.bytes().len() / BYTES);
        let slots = self.slots(function.file);
        let is_it = |slot: &(u64, SlotValue)| matches!(slot.1, SlotValue::Address(svma) if svma == function.svma);
        found.is_taken |= slots.iter().any(is_it);
        found.is_exported = self.is_exported(function);
        let entries = slots.len() + self.n_exported(function);
        self.allowance.used(function.file, entries / ENTRIES);
        let found = Arc::new(found);
        self.references.insert(key, Arc::clone(&found));
        Some(found)
    }
}

impl CodeBytes<'_> {
    /// Finds references to an address of the segment. A false match of four bytes has a probability of one in four
    /// thousand million.
    fn references(&self, function: u64) -> References {
        let mut found = References::default();
        let words = self.bytes().windows(4).enumerate().skip(2);
        for (at, word) in words {
            let &[a, b, c, d] = word else { break };
            let word = i32::from_le_bytes([a, b, c, d]);
            let next = self.start().wrapping_add(at as u64 + 4);
            let is_relative =
                next.wrapping_add_signed(word.into()) & self.arch.addresses() == function;
            if !is_relative && u64::from(word.cast_unsigned()) != function {
                continue;
            }
            let before = at.checked_sub(2).and_then(|start| self.bytes().get(start..at));
            let Some(&[first, second]) = before else { continue };
            match (is_relative, first, second) {
                (true, _, 0xe8) if found.calls.len() < MOST_CALLS => found.calls.push(next),
                (true, _, 0xe8) => found.has_more = true,
                (true, _, 0xe9) | (true, 0x0f, 0x80..=0x8f) => found.is_jumped_to = true,
                (true, 0x8d, modrm) if self.arch.is(Arch::X86_64) && modrm & 0xc7 == 0x05 => {
                    found.is_taken = true;
                }
                // mov $address, register; push $address
                (false, _, 0xb8..=0xbf | 0x68) | (false, 0xc7, 0xc0..=0xc7) => {
                    found.is_taken = true;
                }
                _ => {}
            }
        }
        found
    }
}
