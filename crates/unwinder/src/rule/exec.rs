//! Execution of a rule: one step turns the registers of a frame into those of its caller.

use profile::EndReason;

use crate::arch::{NARROW, Processor, WIDE};
use crate::rule::expression::{ExpressionError, evaluate};
use crate::rule::{Cfa, FullRow, Recovery, SimpleRule};
use crate::state::{MemoryError, RegisterError, Registers, SampleMemory, Saved, WalkContext};

/// Words that a step by a simple rule read, and the resulting frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotsRead {
    /// CFA of the frame: the caller's stack pointer.
    pub(crate) cfa: u64,
    pub(crate) return_address: u64,
    /// Digest of the registers that were saved in slots of this frame.
    pub(crate) values: Saved,
}

/// The extent of a frame on the stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameExtent {
    /// Stack pointer in the frame.
    pub(crate) sp: u64,
    /// CFA of the frame: the caller's stack pointer.
    pub(crate) cfa: u64,
}

/// Returns the address `words` words, of `WORD` bytes each, from the CFA.
pub(crate) const fn slot_at<const WORD: u64>(cfa: u64, words: i8) -> u64 {
    cfa.wrapping_add_signed(words as i64 * WORD.cast_signed())
}

impl SimpleRule {
    /// Returns the CFA, if its base register is known.
    #[cold]
    pub(crate) fn cfa(&self, registers: &Registers, memory: &SampleMemory<'_>) -> Option<u64> {
        let base = registers.get(self.cfa_register, memory).ok()?;
        Some(base.wrapping_add_signed(i64::from(self.cfa_offset)))
    }

    /// Returns the CFA if the slot of the return address is on the stack, past the end of the dump. The interrupted
    /// frame of a signal has no such slot.
    #[inline]
    pub(crate) fn truncated_at<const WORD: u64>(
        &self,
        registers: &Registers,
        memory: &SampleMemory<'_>,
    ) -> Option<u64> {
        if self.signal || self.return_address() == 0 {
            return None;
        }
        let base = registers.get(self.cfa_register, memory).ok()?;
        let cfa = self.cfa_from::<WORD>(base, memory);
        let read = memory.read(slot_at::<WORD>(cfa, self.return_address()));
        (read == Err(MemoryError::PastDump)).then_some(cfa)
    }

    /// Runs the rule on words of `WORD` bytes and sets the registers to those of the caller. On failure, nothing has
    /// changed.
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

    /// Reads the words of the most frequent step: the base register of the CFA is known, the return address is
    /// recorded, and the frame is above its callee's. Returns `None` for every other step.
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

    /// Returns the CFA from the value of its base register.
    #[inline(always)]
    fn cfa_from<const WORD: u64>(&self, base: u64, memory: &SampleMemory<'_>) -> u64 {
        let cfa = base.wrapping_add_signed(i64::from(self.cfa_offset));
        if WORD == NARROW { memory.wrap(cfa) } else { cfa }
    }

    /// Restores the saved registers of a frame with the given extent, except those with popped slots; see
    /// [`Registers::set_saved_unless_popped`].
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

    /// Returns the slot of a saved register, by its slot of the architecture, unless it was popped.
    #[inline(always)]
    pub(crate) fn slot_of<const WORD: u64>(&self, slot: usize, frame: FrameExtent) -> Option<u64> {
        let words = self.saved.get(slot).copied().filter(|&words| words != 0)?;
        unless_popped::<WORD>(words, frame)
    }

    /// Returns a digest of the saved values in a frame with the given extent.
    #[inline(always)]
    pub(crate) fn values<const WORD: u64>(
        &self,
        memory: &SampleMemory<'_>,
        frame: FrameExtent,
    ) -> Saved {
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

/// Returns the address of a slot, `words` words from the CFA, unless it was popped.
#[inline(always)]
fn unless_popped<const WORD: u64>(words: i8, frame: FrameExtent) -> Option<u64> {
    let FrameExtent { sp, cfa } = frame;
    let address = slot_at::<WORD>(cfa, words);
    (address >= sp || cfa < sp).then_some(address)
}

/// The slots of registers that a simple rule saves, restricted to registers that distinguish calls.
struct SavedSlots<'a> {
    rule: &'a SimpleRule,
    memory: &'a SampleMemory<'a>,
    sp: u64,
    /// Digest of their values.
    values: Saved,
}

impl SavedSlots<'_> {
    /// Adds the value of a register, if it was saved, from the recorded bytes below the CFA. The constant slot saves
    /// two thirds of the instructions.
    #[inline(always)]
    fn add<const WORD: u64, const SLOT: usize>(&mut self, below: &[u8]) {
        let words = isize::from(self.rule.saved[SLOT]);
        if words == 0 {
            return;
        }
        let value = if WORD == WIDE {
            // One comparison checks that the word is in range.
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
    /// Runs the row: sets the registers to those of the caller and returns the return address.
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
                        // There is no register that it could be popped to.
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
        // Every later step needs the stack pointer as a value.
        let sp = registers.get(arch.sp, memory).map_err(reason_of_register)?;
        registers.set(arch.sp, sp);
        registers.get(self.return_address, memory).map_err(reason_of_register)
    }
}

impl Registers {
    /// Sets a register to a saved slot, unless the slot was popped: it is below the stack pointer, and the frame is
    /// above it. The register then has its value again, and the slot may be overwritten at any time. Compilers leave
    /// the rules of registers in force between their pops and the return (LLVM and GCC only update the CFA there).
    fn set_saved_unless_popped(&mut self, register: u8, slot: u64, sp: u64, cfa: u64) {
        let stands = slot >= sp || cfa < sp;
        if stands {
            self.set_saved(register, slot);
        }
    }

    /// Makes a register unknown after its expression failed; the chain ends only if it is the return address.
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

/// Returns the reason why a return address, saved in a frame with this CFA, cannot be read.
const fn reason_of_frame(error: MemoryError, cfa: u64, word: u64) -> EndReason {
    // No stack has such addresses: nothing is mapped below 64 KiB, and user addresses have at most 48 bits.
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
