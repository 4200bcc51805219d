//! The registers and words of a processor, as one value of each.

use crate::arch::N_SLOTS;

/// The registers and words of a processor. Registers have their DWARF numbers; what has none there has one behind those.
#[derive(Debug)]
pub(super) struct Numbers {
    /// Bytes of a word.
    pub(super) word: u64,
    /// How many of the DWARF numbers, from 0 on, are numbers of registers here.
    pub(super) columns: u8,
    pub(super) sp: u8,
    pub(super) fp: u8,
    /// Where a frame pointer's record is, in bytes from what the frame pointer says, if there is one.
    pub(super) frame_record: Option<i64>,
    /// The column of the return address.
    pub(super) return_address: u8,
    /// The program counter.
    pub(super) pc: u8,
    /// What the slots of a simple rule restore: the return address, then callee-saved registers.
    pub(super) slots: [u8; N_SLOTS],
    /// By the bits of the recorder's mask.
    pub(super) of_mask_bits: &'static [u8],
    /// The bit of the program counter.
    pub(super) pc_bit: u32,
    /// What is -1 in samples of kernel mode where it is not known.
    pub(super) may_be_unknown: &'static [u8],
    /// The bits that return addresses have.
    pub(super) return_addresses: u64,
}

impl Numbers {
    /// The slot that restores the frame pointer. A processor without simple rules has none; what is returned then is the
    /// last one, which restores nothing.
    pub(super) const fn fp_slot(&self) -> usize {
        let mut slot = 0;
        while slot + 1 < N_SLOTS && self.slots[slot] != self.fp {
            slot += 1;
        }
        slot
    }
}
