//! Addresses that instructions compute in registers, as veneers and entries of procedure linkage tables do before they
//! jump.

use crate::arch::flow::Flow;

/// The contents of a register, if instructions state them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::arch) enum RegisterValue {
    /// This number.
    Address(u64),
    /// The word at this address.
    WordAt(u64),
}

/// Limit above the number of general registers of any processor: POWER counts its CTR as one more.
const N_REGISTERS: usize = 33;

/// Known contents of registers, by the numbers that instructions use.
#[derive(Clone, Debug)]
pub(in crate::arch) struct RegisterContents([Option<RegisterValue>; N_REGISTERS]);

impl Default for RegisterContents {
    fn default() -> Self {
        Self([None; N_REGISTERS])
    }
}

impl RegisterContents {
    /// Returns the contents of a register.
    pub(in crate::arch) fn get(&self, register: u32) -> Option<RegisterValue> {
        self.0.get(register as usize).copied().flatten()
    }

    /// Returns the number in a register, plus an offset.
    pub(in crate::arch) fn plus(&self, register: u32, offset: i64) -> Option<u64> {
        match self.get(register)? {
            RegisterValue::Address(address) => Some(address.wrapping_add_signed(offset)),
            RegisterValue::WordAt(_) => None,
        }
    }

    pub(in crate::arch) fn set(&mut self, register: u32, held: Option<RegisterValue>) {
        if let Some(slot) = self.0.get_mut(register as usize) {
            *slot = held;
        }
    }

    pub(in crate::arch) fn set_address(&mut self, register: u32, address: Option<u64>) {
        self.set(register, address.map(RegisterValue::Address));
    }

    /// Sets a register to the word at an address.
    pub(in crate::arch) fn set_word_at(&mut self, register: u32, address: Option<u64>) {
        self.set(register, address.map(RegisterValue::WordAt));
    }

    pub(in crate::arch) fn forget_all(&mut self) {
        *self = Self::default();
    }

    /// Returns the flow of a jump to a register's contents plus an offset.
    pub(in crate::arch) fn jump(&self, register: u32, offset: i64) -> Flow {
        match (self.get(register), offset) {
            (Some(RegisterValue::Address(address)), _) => {
                Flow::Jump(address.wrapping_add_signed(offset))
            }
            (Some(RegisterValue::WordAt(slot)), 0) => Flow::JumpSlot(slot),
            _ => Flow::JumpIndirect,
        }
    }

    /// Returns the flow of a call to a register's contents plus an offset.
    pub(in crate::arch) fn call(&self, register: u32, offset: i64) -> Flow {
        match self.jump(register, offset) {
            Flow::Jump(target) => Flow::Call(target),
            Flow::JumpSlot(slot) => Flow::CallSlot(slot),
            _ => Flow::CallIndirect,
        }
    }
}

/// Sign-extends the lower bits of a field.
pub(in crate::arch) const fn signed(field: u32, bits: u32) -> i64 {
    (((field << (32 - bits)).cast_signed()) >> (32 - bits)) as i64
}

/// Returns the little-endian word at the start of the code.
pub(in crate::arch) fn first_word(code: &[u8]) -> Option<u32> {
    code.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

/// Returns the little-endian half word at an offset of the code.
pub(in crate::arch) fn half_word(code: &[u8], at: usize) -> Option<u32> {
    code.get(at..)?.first_chunk().map(|bytes| u32::from(u16::from_le_bytes(*bytes)))
}
