//! Running a rule: one step outwards turns the registers of a frame into those of its caller.

use profile::EndReason;

use crate::arch::{NARROW, Processor, WIDE};
use crate::rule::expression::{ExpressionError, evaluate};
use crate::rule::{Cfa, FullRow, Recovery, SimpleRule};
use crate::state::{Memory, MemoryError, RegisterError, Registers, Saved, WalkContext};

/// What a step by a simple rule read, and where it led.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotsRead {
    /// The frame's address, which is the caller's stack pointer.
    pub(crate) cfa: u64,
    pub(crate) return_address: u64,
    /// What is known of the registers that were saved in slots of this frame.
    pub(crate) values: Saved,
}

/// The extent of a frame on the stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameExtent {
    /// The stack pointer in the frame.
    pub(crate) sp: u64,
    /// The frame's address, which is the caller's stack pointer.
    pub(crate) cfa: u64,
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

    /// Where the frame begins, if its return address was on the stack, past the end of what was recorded. The frame that a
    /// signal interrupted has no such slot.
    #[inline]
    pub(crate) fn cut_at<const WORD: u64>(
        &self,
        registers: &Registers,
        memory: &Memory<'_>,
    ) -> Option<u64> {
        if self.signal || self.return_address() == 0 {
            return None;
        }
        let base = registers.get(self.cfa_register, memory).ok()?;
        let cfa = self.cfa_from::<WORD>(base, memory);
        let read = memory.read(slot_at::<WORD>(cfa, self.return_address()));
        (read == Err(MemoryError::PastDump)).then_some(cfa)
    }

    /// Runs the rule on words of `WORD` bytes: the registers become those of the caller. Nothing has changed where that
    /// fails.
    #[inline]
    pub(crate) fn run<const WORD: u64>(
        &self,
        registers: &mut Registers,
        context: &WalkContext<'_>,
    ) -> Result<SlotsRead, EndReason> {
        let (memory, arch) = (&context.memory, context.arch);
        let base = registers.get(self.cfa_register, memory).map_err(reason_of_register)?;
        let cfa = self.cfa_from::<WORD>(base, memory);
        let return_address = if self.return_address() == 0 {
            registers.get(arch.return_address, memory).map_err(reason_of_register)?
        } else {
            memory
                .read(slot_at::<WORD>(cfa, self.return_address()))
                .map_err(|error| reason_of_frame(error, cfa, WORD))?
        };
        let frame = FrameExtent { sp: registers.sp(arch), cfa };
        self.restore_saved::<WORD>(registers, arch, frame);
        registers.go_to(arch, cfa, return_address);
        Ok(SlotsRead { cfa, return_address, values: self.values::<WORD>(memory, frame) })
    }

    /// Reads what the step needs that nearly all are: the frame begins at a register that is known, the return address is
    /// in the recorded bytes, and the frame lies above its callee's. `None` for every other step.
    #[inline(always)]
    pub(crate) fn read_slots<const WORD: u64>(
        &self,
        registers: &Registers,
        context: &WalkContext<'_>,
    ) -> Option<SlotsRead> {
        let (memory, arch) = (&context.memory, context.arch);
        if self.signal || self.return_address() == 0 || self.cfa_register == arch.return_address {
            return None;
        }
        let base = registers.get(self.cfa_register, memory).ok()?;
        let cfa = self.cfa_from::<WORD>(base, memory);
        let return_address = memory.recorded(slot_at::<WORD>(cfa, self.return_address()))?;
        let frame = FrameExtent { sp: registers.sp(arch), cfa };
        if cfa <= frame.sp || arch.strip(return_address) == 0 {
            return None;
        }
        Some(SlotsRead { cfa, return_address, values: self.values::<WORD>(memory, frame) })
    }

    /// The frame's address, by the value of the register that it is counted from.
    #[inline(always)]
    fn cfa_from<const WORD: u64>(&self, base: u64, memory: &Memory<'_>) -> u64 {
        let cfa = base.wrapping_add_signed(i64::from(self.cfa_offset));
        if WORD == NARROW { memory.wrap(cfa) } else { cfa }
    }

    /// Restores the registers that the rule says were saved, but for those whose slots were popped, as
    /// [`Registers::set_saved_unless_popped`] says, from a frame of that extent.
    pub(crate) fn restore_saved<const WORD: u64>(
        &self,
        registers: &mut Registers,
        arch: Processor,
        frame: FrameExtent,
    ) {
        let (slots, mut saved) = (arch.slots, 0);
        self.for_each_saved(|slot, words| {
            if let Some(address) = unless_popped::<WORD>(words, frame)
                && let Some(&register) = slots.get(slot)
                && registers.put(register, address)
            {
                saved |= 1_u64.wrapping_shl(register.into());
            }
        });
        registers.mark_saved(saved);
    }

    /// Where the register of a slot of the architecture was saved, unless that was popped.
    #[inline(always)]
    pub(crate) fn slot_of<const WORD: u64>(&self, slot: usize, frame: FrameExtent) -> Option<u64> {
        let words = self.saved.get(slot).copied().filter(|&words| words != 0)?;
        unless_popped::<WORD>(words, frame)
    }

    /// The facts about the saved values that were recorded in a frame of that extent.
    #[inline(always)]
    pub(crate) fn values<const WORD: u64>(&self, memory: &Memory<'_>, frame: FrameExtent) -> Saved {
        let mut slots = SavedSlots { rule: self, memory, sp: frame.sp, values: Saved::NONE };
        let below = memory.recorded_below(frame.cfa);
        slots.add::<WORD, 1>(below);
        slots.add::<WORD, 2>(below);
        slots.add::<WORD, 3>(below);
        slots.add::<WORD, 4>(below);
        slots.add::<WORD, 5>(below);
        slots.add::<WORD, 6>(below);
        slots.values
    }
}

/// The address of a slot, so many words from the address of a frame of that extent, unless it was popped.
#[inline(always)]
fn unless_popped<const WORD: u64>(words: i8, frame: FrameExtent) -> Option<u64> {
    let FrameExtent { sp, cfa } = frame;
    let address = slot_at::<WORD>(cfa, words);
    (address >= sp || cfa < sp).then_some(address)
}

/// The slots that a simple rule says registers were saved in, of those whose values tell calls apart.
struct SavedSlots<'a> {
    rule: &'a SimpleRule,
    memory: &'a Memory<'a>,
    sp: u64,
    /// What is known of their values.
    values: Saved,
}

impl SavedSlots<'_> {
    /// Adds the value of a register, if it was saved, from what was recorded below the frame's address. That the slot is a
    /// constant makes a third of the instructions.
    #[inline(always)]
    fn add<const WORD: u64, const SLOT: usize>(&mut self, below: &[u8]) {
        let words = isize::from(self.rule.saved[SLOT]);
        if words == 0 {
            return;
        }
        let value = if WORD == WIDE {
            // One comparison finds that the word is there.
            let (_, all) = below.as_rchunks();
            all.get(all.len().wrapping_add_signed(words)).map(|word| self.memory.word(*word))
        } else {
            let at = below.len().wrapping_add_signed(WORD as isize * words);
            below.get(at..).and_then(|bytes| self.memory.first_word::<WORD>(bytes))
        };
        if let Some(value) = value {
            self.values.add(SLOT, value, self.sp);
        }
    }
}

impl FullRow {
    /// Runs the row: the registers become those of the caller. Returns the return address.
    pub(crate) fn run(
        &self,
        registers: &mut Registers,
        context: &WalkContext<'_>,
    ) -> Result<u64, EndReason> {
        let (memory, arch) = (&context.memory, context.arch);
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
        registers.set(arch.sp, cfa.wrapping_sub(arch.conventions.cfa_above_sp));
        for (register, recovery) in &self.registers {
            match recovery {
                Recovery::Undefined => registers.forget(*register),
                Recovery::Same => {}
                Recovery::SlotAtCfa(offset) => {
                    let slot = memory.wrap(cfa.wrapping_add_signed(*offset));
                    if arch.is_x86() && *register == arch.return_address {
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
        let sp = registers.get(arch.sp, memory).map_err(reason_of_register)?;
        registers.set(arch.sp, sp);
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
