//! Running a rule: one step outwards turns the registers of a frame into those of its caller.

use profile::EndReason;

use crate::arch::{Arch, N_SLOTS, NARROW};
use crate::rule::expression::{ExpressionError, evaluate};
use crate::rule::{Cfa, FullRow, Recovery, SimpleRule};
use crate::state::{Memory, MemoryError, RegisterError, Registers, Saved};

/// What a step by a simple rule read, and where it led.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotsRead {
    /// The slot of the register that the frame's address is counted from; 0 where its value was in the register.
    pub(crate) base_slot: u64,
    /// The frame's address, which is the caller's stack pointer.
    pub(crate) cfa: u64,
    pub(crate) return_address: u64,
    /// Bit set: the register of that number was saved in a slot of this frame.
    pub(crate) saved: u64,
    /// What is known of their values.
    pub(crate) values: Saved,
}

/// So many words, of `WORD` bytes, from the frame's address.
pub(crate) const fn slot_at<const WORD: u64>(cfa: u64, words: i8) -> u64 {
    cfa.wrapping_add_signed(words as i64 * WORD.cast_signed())
}

impl SimpleRule {
    /// Where the frame begins, if the register that it is counted from is known.
    #[cold]
    pub(crate) fn cfa(&self, registers: &Registers, memory: &Memory<'_>) -> Option<u64> {
        let base = registers.get(self.cfa_register, memory).ok()?;
        Some(base.wrapping_add_signed(i64::from(self.cfa_offset)))
    }

    /// Runs the rule on words of `WORD` bytes: the registers become those of the caller. Nothing has changed where that
    /// fails.
    #[inline]
    pub(crate) fn run<const WORD: u64>(
        &self,
        registers: &mut Registers,
        memory: &Memory<'_>,
        arch: Arch,
    ) -> Result<SlotsRead, EndReason> {
        let base = registers.get(self.cfa_register, memory).map_err(reason_of_register)?;
        let cfa = self.cfa_from::<WORD>(base, memory);
        let return_address = if self.return_address() == 0 {
            registers.get(arch.return_address(), memory).map_err(reason_of_register)?
        } else {
            memory
                .read(slot_at::<WORD>(cfa, self.return_address()))
                .map_err(|error| reason_of_frame(error, cfa, WORD))?
        };
        Ok(self.leave::<WORD>(registers, memory, arch, (cfa, return_address)))
    }

    /// The same for the step that nearly all are: the frame begins at a register that is known, the return address is in
    /// the recorded bytes, and the frame lies above its callee's. `None`, and nothing has changed, for every other step.
    #[inline(always)]
    pub(crate) fn run_plain<const WORD: u64>(
        &self,
        registers: &mut Registers,
        memory: &Memory<'_>,
        arch: Arch,
    ) -> Option<SlotsRead> {
        if self.signal || self.return_address() == 0 || self.cfa_register == arch.return_address() {
            return None;
        }
        let base = registers.get(self.cfa_register, memory).ok()?;
        let cfa = self.cfa_from::<WORD>(base, memory);
        let return_address = memory.recorded(slot_at::<WORD>(cfa, self.return_address()))?;
        if cfa <= registers.sp(arch) || arch.strip(return_address) == 0 {
            return None;
        }
        Some(self.leave::<WORD>(registers, memory, arch, (cfa, return_address)))
    }

    /// The frame's address, by the value of the register that it is counted from.
    #[inline(always)]
    fn cfa_from<const WORD: u64>(&self, base: u64, memory: &Memory<'_>) -> u64 {
        let cfa = base.wrapping_add_signed(i64::from(self.cfa_offset));
        if WORD == NARROW { memory.wrap(cfa) } else { cfa }
    }

    /// The registers become those of the caller.
    #[inline(always)]
    fn leave<const WORD: u64>(
        &self,
        registers: &mut Registers,
        memory: &Memory<'_>,
        arch: Arch,
        (cfa, return_address): (u64, u64),
    ) -> SlotsRead {
        let base_slot = registers.slot(self.cfa_register);
        let sp = registers.sp(arch);
        let (saved, values) = self.restore_saved::<WORD>(registers, memory, arch, (sp, cfa));
        registers.set(arch.sp(), cfa);
        registers.set(arch.return_address(), return_address);
        SlotsRead { base_slot, cfa, return_address, saved, values }
    }

    /// Restores the registers that the rule says were saved, but for those whose slots were popped, as
    /// [`Registers::set_saved_unless_popped`] says; returns the bits of their numbers, and what is known of the values,
    /// as far as they were recorded below the frame's address.
    #[inline]
    pub(crate) fn restore_saved<const WORD: u64>(
        &self,
        registers: &mut Registers,
        memory: &Memory<'_>,
        arch: Arch,
        (sp, cfa): (u64, u64),
    ) -> (u64, Saved) {
        let mut frame = SavedSlots {
            rule: self,
            slots: arch.slots(),
            memory,
            below: memory.recorded_below(cfa),
            sp,
            cfa,
            lowest: if cfa < sp { 0 } else { sp },
            saved: 0,
            values: Saved::NONE,
        };
        // Nearly every step runs this, and nearly all that is saved is in these slots.
        frame.restore::<WORD, 1>(registers);
        frame.restore::<WORD, 2>(registers);
        frame.restore::<WORD, 3>(registers);
        frame.restore::<WORD, 4>(registers);
        frame.restore::<WORD, 5>(registers);
        frame.restore::<WORD, 6>(registers);
        self.for_each_saved_behind(|slot, words| frame.note::<WORD>(slot, words, registers));
        let SavedSlots { saved, values, .. } = frame;
        registers.mark_saved(saved);
        (saved, values)
    }
}

/// The slots of a frame that a simple rule says registers were saved in.
struct SavedSlots<'a> {
    rule: &'a SimpleRule,
    slots: &'static [u8; N_SLOTS],
    memory: &'a Memory<'a>,
    /// What was recorded below the frame's address.
    below: &'a [u8],
    sp: u64,
    cfa: u64,
    /// Slots from here on are not popped.
    lowest: u64,
    /// Bit set: the register of that number was restored.
    saved: u64,
    /// What is known of their values.
    values: Saved,
}

impl SavedSlots<'_> {
    /// Restores the register of a slot, if it was saved, and adds its value to what is known. That the slot is a constant
    /// makes a third of the instructions.
    #[inline(always)]
    fn restore<const WORD: u64, const SLOT: usize>(&mut self, registers: &mut Registers) {
        let words = self.rule.saved[SLOT];
        if words == 0 {
            return;
        }
        self.note::<WORD>(SLOT, words, registers);
        let at = self.below.len().wrapping_add_signed(WORD as isize * isize::from(words));
        let value = self.below.get(at..).and_then(|bytes| self.memory.first_word::<WORD>(bytes));
        if let Some(value) = value {
            self.values.add(SLOT, value, self.sp);
        }
    }

    /// Restores the register of a slot.
    #[inline(always)]
    fn note<const WORD: u64>(&mut self, slot: usize, words: i8, registers: &mut Registers) {
        let address = slot_at::<WORD>(self.cfa, words);
        if address >= self.lowest {
            let register = self.slots[slot];
            if registers.put(register, address) {
                self.saved |= 1_u64.wrapping_shl(register.into());
            }
        }
    }
}

impl FullRow {
    /// Runs the row: the registers become those of the caller. Returns the return address.
    pub(crate) fn run(
        &self,
        registers: &mut Registers,
        memory: &Memory<'_>,
        arch: Arch,
    ) -> Result<u64, EndReason> {
        let cfa = match &self.cfa {
            Cfa::Register(register, offset) => registers
                .get(*register, memory)
                .map_err(reason_of_register)?
                .wrapping_add_signed(*offset),
            Cfa::Expression(expression) => evaluate(expression.bytes(), None, registers, memory)
                .map_err(reason_of_expression)?,
        };
        let cfa = memory.wrap(cfa);
        let before = registers.clone();
        let old_sp = before.sp(arch);
        registers.set(arch.sp(), cfa.wrapping_sub(arch.kept_room()));
        for (register, recovery) in &self.registers {
            match recovery {
                Recovery::Undefined => registers.forget(*register),
                Recovery::Same => {}
                Recovery::SlotAtCfa(offset) => {
                    let slot = memory.wrap(cfa.wrapping_add_signed(*offset));
                    if arch.is_x86() && *register == arch.return_address() {
                        // It has no register that it could be popped to.
                        registers.set_saved(*register, slot);
                    } else {
                        registers.set_saved_unless_popped(*register, slot, old_sp, cfa);
                    }
                }
                Recovery::CfaPlus(offset) => {
                    registers.set(*register, cfa.wrapping_add_signed(*offset))
                }
                Recovery::Register(source) => registers.copy_from(*register, &before, *source),
                Recovery::Constant(value) => registers.set(*register, *value),
                Recovery::SlotAtExpression(expression) => {
                    match evaluate(expression.bytes(), Some(cfa), &before, memory) {
                        Ok(address) => registers.set_saved(*register, address),
                        Err(error) => registers.lose(*register, self.return_address, error)?,
                    }
                }
                Recovery::Expression(expression) => {
                    match evaluate(expression.bytes(), Some(cfa), &before, memory) {
                        Ok(value) => registers.set(*register, value),
                        Err(error) => registers.lose(*register, self.return_address, error)?,
                    }
                }
            }
        }
        // The stack pointer is wanted as a value by every step that follows.
        let sp = registers.get(arch.sp(), memory).map_err(reason_of_register)?;
        registers.set(arch.sp(), sp);
        registers.get(self.return_address, memory).map_err(reason_of_register)
    }
}

impl Registers {
    /// A register was saved in a slot. A slot below the stack pointer of a frame that lies above it has been popped: the
    /// register has its value again, and what is in the slot may be overwritten at any time. Compilers leave the rules
    /// of registers standing between their pops and the return (LLVM and GCC say only where the frame begins there).
    fn set_saved_unless_popped(&mut self, register: u8, slot: u64, sp: u64, cfa: u64) {
        let stands = slot >= sp || cfa < sp;
        if stands {
            self.set_saved(register, slot);
        }
    }

    /// A register whose expression has no value is unknown from here on; only the return address ends the chain.
    fn lose(
        &mut self,
        register: u8,
        return_address: u8,
        error: ExpressionError,
    ) -> Result<(), EndReason> {
        self.forget(register);
        if register == return_address { Err(reason_of_expression(error)) } else { Ok(()) }
    }
}

const fn reason_of_register(error: RegisterError) -> EndReason {
    match error {
        RegisterError::Unknown => EndReason::RegisterUnknown,
        RegisterError::Memory(error) => reason_of_memory(error),
    }
}

const fn reason_of_memory(error: MemoryError) -> EndReason {
    match error {
        MemoryError::PastDump => EndReason::StackExhausted,
        MemoryError::NotRecorded => EndReason::MemoryNotRecorded,
    }
}

/// Why a return address cannot be read that was saved in a frame that begins at `cfa`.
const fn reason_of_frame(error: MemoryError, cfa: u64, word: u64) -> EndReason {
    // What no stack begins with: nothing is mapped that low; addresses of user code have 48 bits.
    let is_stack = cfa.is_multiple_of(word) && cfa >= 1 << 16 && cfa < 1 << 48;
    match error {
        MemoryError::NotRecorded if is_stack => EndReason::OtherStack,
        error => reason_of_memory(error),
    }
}

const fn reason_of_expression(error: ExpressionError) -> EndReason {
    match error {
        ExpressionError::Bad => EndReason::BadUnwindInfo,
        ExpressionError::Register(error) => reason_of_register(error),
    }
}
