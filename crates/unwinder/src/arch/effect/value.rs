//! Contents of registers and stack slots along a path of instructions, if they differ by a constant from a value at the
//! path's start.

use crate::arch::{N_REGISTERS, Processor};

/// The base that a value is counted from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Base {
    /// A register at the path's start, by its DWARF number.
    Register(u8),
    /// A word of memory at the path's start, by its index among the words of the paths.
    Word(u16),
    /// Zero: the value is a constant, such as an address that the file states.
    Zero,
}

/// A base plus a wrapping offset.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Sum {
    pub(crate) base: Base,
    pub(crate) offset: i64,
}

impl Sum {
    pub(crate) const fn constant(value: u64) -> Self {
        Self { base: Base::Zero, offset: value.cast_signed() }
    }

    pub(crate) const fn plus(self, offset: i64) -> Self {
        Self { base: self.base, offset: self.offset.wrapping_add(offset) }
    }

    /// Returns the value, if it is a constant.
    pub(crate) const fn as_constant(self) -> Option<u64> {
        match self.base {
            Base::Zero => Some(self.offset.cast_unsigned()),
            Base::Register(_) | Base::Word(_) => None,
        }
    }
}

/// Address of a switch's table, and the address that its entries are counted from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct JumpTable {
    pub(crate) at: u64,
    pub(crate) base: u64,
}

/// A value; `None` if it is unknown.
pub(crate) type SymbolicValue = Option<Sum>;

/// The words of memory that all paths from a start have read, by their addresses at the start.
#[derive(Default, Debug)]
pub(crate) struct MemoryWords(Vec<Sum>);

impl MemoryWords {
    /// Limit above the number of words that a function's epilogue reads.
    const MOST: usize = 1024;

    /// Returns the word at an address, as the base of a value.
    fn at(&mut self, address: Sum) -> SymbolicValue {
        let contents = self.0.iter().position(|&word| word == address);
        let index = contents.or_else(|| {
            (self.0.len() < Self::MOST).then(|| {
                self.0.push(address);
                self.0.len() - 1
            })
        })?;
        Some(Sum { base: Base::Word(u16::try_from(index).ok()?), offset: 0 })
    }

    /// Returns the address of a word.
    pub(crate) fn address(&self, index: u16) -> Option<Sum> {
        self.0.get(usize::from(index)).copied()
    }
}

/// Number of tracked registers, by DWARF number: those of frames.
pub(crate) const N_GENERAL: usize = N_REGISTERS;

/// The state of a path.
#[derive(Clone, Debug)]
pub(crate) struct PathState {
    registers: [SymbolicValue; N_GENERAL],
    stored: Vec<StoredBytes>,
    /// Maximum number of stores. Beyond it, stores other than saved registers are dropped, or the path is abandoned.
    most_stored: usize,
    forgets: bool,
    /// True if some stores were dropped.
    has_forgotten: bool,
    /// The table that distances were last read from, as in a switch.
    table: Option<JumpTable>,
    /// The processor, which defines the registers and words.
    pub(crate) arch: Processor,
}

/// Bytes that the path has written.
#[derive(Clone, Copy, Debug)]
struct StoredBytes {
    at: Sum,
    size: i64,
    value: SymbolicValue,
}

impl PathState {
    /// Limit above the usual number of stores of a path before its function returns.
    const MOST_STORED: usize = 256;
    /// Maximum number of stores of a path from a function's start: many such paths are pending at a time.
    const MOST_OF_FUNCTION: usize = 64;

    /// Makes the registers that a called function may change unknown.
    pub(crate) fn forget_changed(&mut self) {
        let changed = self.arch.conventions.caller_saved;
        changed.iter().for_each(|&register| self.set(register, None));
    }

    /// Creates the state at a path's start: every register contains itself.
    pub(crate) fn new(arch: Processor) -> Self {
        let mut registers = [None; N_GENERAL];
        for (register, number) in registers.iter_mut().zip(0..) {
            *register = Some(Sum { base: Base::Register(number), offset: 0 });
        }
        let most_stored = Self::MOST_STORED;
        Self {
            registers,
            stored: Vec::new(),
            most_stored,
            forgets: false,
            has_forgotten: false,
            table: None,
            arch,
        }
    }

    /// Creates the state at a function's start, for paths with many stores.
    pub(crate) fn of_entry(arch: Processor) -> Self {
        Self { most_stored: Self::MOST_OF_FUNCTION, forgets: true, ..Self::new(arch) }
    }

    pub(crate) fn get(&self, register: u8) -> SymbolicValue {
        self.registers.get(usize::from(register)).copied().flatten()
    }

    pub(crate) fn set(&mut self, register: u8, value: SymbolicValue) {
        if let Some(slot) = self.registers.get_mut(usize::from(register)) {
            *slot = value;
        }
    }

    /// Returns true if the frame pointer has the word that it initially pointed to.
    pub(crate) fn has_callers_frame_pointer(&self, words: &MemoryWords) -> bool {
        let fp = self.arch.fp;
        let Some(Sum { base: Base::Word(index), offset: 0 }) = self.get(fp) else { return false };
        words.address(index) == Some(Sum { base: Base::Register(fp), offset: 0 })
    }

    /// The table of distances that was read last.
    pub(crate) const fn table(&self) -> Option<JumpTable> {
        self.table
    }

    pub(crate) const fn set_table(&mut self, table: Option<JumpTable>) {
        self.table = table;
    }

    /// The stack pointer.
    pub(crate) fn sp(&self) -> SymbolicValue {
        self.get(self.arch.sp)
    }

    /// Size of a word, in bytes.
    pub(crate) const fn word(&self) -> i64 {
        self.arch.word.cast_signed()
    }

    /// Returns the word at an address.
    pub(crate) fn load(&self, at: SymbolicValue, words: &mut MemoryWords) -> SymbolicValue {
        let at = at?;
        let size = self.word();
        if let Some(stored) = self.stored.iter().rev().find(|stored| stored.overlaps(at, size)) {
            return if stored.at == at && stored.size == size { stored.value } else { None };
        }
        if at.base == Base::Zero || self.has_forgotten { None } else { words.at(at) }
    }

    /// Writes `size` bytes. A write to an unknown address changes nothing: code does not overwrite values that it saved
    /// on its stack. Returns false if there are too many stores.
    pub(crate) fn store(&mut self, at: SymbolicValue, size: i64, value: SymbolicValue) -> bool {
        let Some(at) = at.filter(|at| at.base != Base::Zero) else { return true };
        self.stored.retain(|stored| !stored.is_within(at, size));
        self.stored.push(StoredBytes { at, size, value });
        if self.forgets && self.stored.len() > self.most_stored {
            self.has_forgotten = true;
            self.stored.retain(StoredBytes::is_register);
        }
        self.stored.len() <= self.most_stored
    }

    /// Returns the address of the first remaining store of a value.
    pub(crate) fn slot_of(&self, value: Sum) -> SymbolicValue {
        self.stored.iter().find(|stored| stored.value == Some(value)).map(|stored| stored.at)
    }
}

impl StoredBytes {
    /// Returns true if it saves a register with its value at the path's start.
    const fn is_register(&self) -> bool {
        matches!(self.value, Some(Sum { base: Base::Register(_), offset: 0 }))
    }

    const fn overlaps(&self, at: Sum, size: i64) -> bool {
        let before = at.offset.wrapping_sub(self.at.offset);
        self.has_base_of(at) && before < self.size && before > -size
    }

    const fn is_within(&self, at: Sum, size: i64) -> bool {
        let into = self.at.offset.wrapping_sub(at.offset);
        self.has_base_of(at) && into >= 0 && into <= size - self.size
    }

    const fn has_base_of(&self, at: Sum) -> bool {
        match (self.at.base, at.base) {
            (Base::Register(one), Base::Register(other)) => one == other,
            (Base::Word(one), Base::Word(other)) => one == other,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::X86_64;

    const SP: Sum = Sum { base: Base::Register(7), offset: 0 };

    #[test]
    fn what_was_stored_is_loaded_again() {
        let (mut state, mut words) = (PathState::new(X86_64), MemoryWords::default());
        let rbx = state.get(3);
        assert!(state.store(Some(SP.plus(-8)), 8, rbx));
        assert_eq!(state.load(Some(SP.plus(-8)), &mut words), rbx);
        // Part of it was overwritten.
        assert!(state.store(Some(SP.plus(-4)), 4, None));
        assert_eq!(state.load(Some(SP.plus(-8)), &mut words), None);
        assert_eq!(state.load(Some(SP.plus(-12)), &mut words), None);
        // An unwritten word has its initial contents.
        let word = state.load(Some(SP.plus(16)), &mut words);
        assert_eq!(word, Some(Sum { base: Base::Word(0), offset: 0 }));
        assert_eq!(state.load(Some(SP.plus(16)), &mut words), word);
        assert_eq!(words.address(0), Some(SP.plus(16)));
    }

    #[test]
    fn what_is_not_known_stays_so() {
        let (mut state, mut words) = (PathState::new(X86_64), MemoryWords::default());
        state.set(3, None);
        assert_eq!(state.get(3), None);
        assert_eq!(state.load(None, &mut words), None);
        assert_eq!(state.load(Some(Sum::constant(0x1000)), &mut words), None);
        assert!(state.store(None, 8, Some(SP)));
        assert_eq!(state.get(200), None);
    }
}
