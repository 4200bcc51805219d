//! The register file of a frame. A callee-saved register is stored as the address of its slot and read only when its
//! value is needed: most never are, and their stack lines stay untouched.

use crate::arch::{N_REGISTERS, Processor};
use crate::state::memory::{MemoryError, SampleMemory};

/// Registers by DWARF number, each unknown, a value, or a slot in memory that holds the value.
#[derive(Clone, Debug)]
pub(crate) struct Registers {
    values: [u64; N_REGISTERS],
    /// Bit set: the register is known.
    known: u64,
    /// Bit set: `values` holds the address of the register's slot.
    in_memory: u64,
}

/// The reason why a register has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RegisterError {
    /// It was not sampled, or a callee changed it without saving it.
    Unknown,
    /// The slot that holds it was not recorded.
    Memory(MemoryError),
}

impl Registers {
    #[inline]
    pub(crate) const fn new() -> Self {
        Self { values: [0; N_REGISTERS], known: 0, in_memory: 0 }
    }

    #[inline]
    pub(crate) fn set(&mut self, register: u8, value: u64) {
        if let Some(slot) = self.values.get_mut(usize::from(register)) {
            *slot = value;
            self.known |= 1 << register;
            self.in_memory &= !(1 << register);
        }
    }

    /// Sets a register to the memory slot at `address`.
    #[inline]
    pub(crate) fn set_saved(&mut self, register: u8, address: u64) {
        if let Some(slot) = self.values.get_mut(usize::from(register)) {
            *slot = address;
            self.known |= 1 << register;
            self.in_memory |= 1 << register;
        }
    }

    /// Stores the value of a register, or the address of its slot. [`Self::mark_values`] or [`Self::mark_saved`] then
    /// sets its kind, for several at once. Returns true if there is such a register.
    #[inline]
    pub(crate) fn put(&mut self, register: u8, value: u64) -> bool {
        match self.values.get_mut(usize::from(register)) {
            Some(slot) => {
                *slot = value;
                true
            }
            None => false,
        }
    }

    /// Marks the registers with these bits as values.
    #[inline]
    pub(crate) const fn mark_values(&mut self, registers: u64) {
        self.known |= registers;
        self.in_memory &= !registers;
    }

    /// Marks the registers with these bits as slots.
    #[inline]
    pub(crate) const fn mark_saved(&mut self, registers: u64) {
        self.known |= registers;
        self.in_memory |= registers;
    }

    /// Returns a register that is a value; `None` if it is unknown or in memory.
    #[inline]
    pub(crate) fn value(&self, register: u8) -> Option<u64> {
        let bit = 1_u64.checked_shl(register.into())?;
        let is_value = self.known & bit != 0 && self.in_memory & bit == 0;
        self.values.get(usize::from(register)).copied().filter(|_| is_value)
    }

    /// Truncates every value to its lower 32 bits: the process's registers have no others.
    #[inline]
    pub(crate) fn narrow(&mut self) {
        self.values.iter_mut().for_each(|value| *value &= 0xffff_ffff);
    }

    #[inline]
    pub(crate) fn forget(&mut self, register: u8) {
        if usize::from(register) < N_REGISTERS {
            self.known &= !(1 << register);
        }
    }

    pub(crate) fn copy_from(&mut self, register: u8, other: &Self, source: u8) {
        let Some(&value) = other.values.get(usize::from(source)) else { return };
        if other.known & (1 << source) == 0 {
            self.forget(register);
        } else if other.in_memory & (1 << source) != 0 {
            self.set_saved(register, value);
        } else {
            self.set(register, value);
        }
    }

    /// Returns the value of a register, read from its slot if it was saved.
    #[inline]
    pub(crate) fn get(
        &self,
        register: u8,
        memory: &SampleMemory<'_>,
    ) -> Result<u64, RegisterError> {
        let Some(&value) = self.values.get(usize::from(register)) else {
            return Err(RegisterError::Unknown);
        };
        let bit = 1_u64 << register;
        if self.known & bit == 0 {
            return Err(RegisterError::Unknown);
        }
        if self.in_memory & bit == 0 {
            return Ok(value);
        }
        memory.read(value).map_err(RegisterError::Memory)
    }

    /// Sets the stack pointer to `cfa`, and the return address register to `return_address`.
    #[inline]
    pub(crate) fn go_to(&mut self, arch: Processor, cfa: u64, return_address: u64) {
        self.set(arch.sp, cfa);
        self.set(arch.return_address, return_address);
    }

    /// Returns the stack pointer, which is always a value.
    pub(crate) fn sp(&self, arch: Processor) -> u64 {
        self.values.get(usize::from(arch.sp)).copied().unwrap_or(0)
    }
}
