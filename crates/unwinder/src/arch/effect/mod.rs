//! The effect of instructions on a path's registers and stack slots, reduced to the operations that matter for
//! unwinding. Each processor with a link register has functions that run its instructions.

mod value;

use crate::arch::ArchDescriptor;
pub(crate) use value::{Base, JumpTable, MemoryWords, PathState, Sum, SymbolicValue};

/// The effect of one instruction on the link register, apart from the state.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct LinkUse {
    /// True if it gets another value.
    pub(crate) is_written: bool,
    /// True if its value is saved.
    pub(crate) is_saved: bool,
}

/// The state of a path during an instruction. Registers have their DWARF numbers, as in frames.
pub(in crate::arch) struct EffectMachine<'s> {
    state: &'s mut PathState,
    words: &'s mut MemoryWords,
    link: LinkUse,
    link_register: u8,
    word: i64,
}

impl<'s> EffectMachine<'s> {
    fn new(state: &'s mut PathState, words: &'s mut MemoryWords) -> Self {
        let link_register = state.arch.return_address;
        let word = state.word();
        Self { state, words, link: LinkUse::default(), link_register, word }
    }

    const fn written(&mut self, register: u8) {
        self.link.is_written |= register == self.link_register;
    }

    /// Sets a register to another one plus a constant.
    pub(in crate::arch) fn set(&mut self, to: u8, from: u8, plus: i64) {
        self.written(to);
        self.link.is_saved |= from == self.link_register;
        let value = self.state.get(from).map(|value| value.plus(plus));
        self.state.set(to, value);
    }

    /// Sets a register to the sum of two, if one is a constant.
    pub(in crate::arch) fn add(&mut self, to: u8, one: u8, other: u8) {
        let constant = |register: u8| self.state.get(register).and_then(Sum::as_constant);
        match (constant(one), constant(other)) {
            (_, Some(plus)) => self.set(to, one, plus.cast_signed()),
            (Some(plus), None) => self.set(to, other, plus.cast_signed()),
            (None, None) => self.kill(to),
        }
    }

    pub(in crate::arch) fn constant(&mut self, to: u8, value: i64) {
        self.written(to);
        self.state.set(to, Some(Sum::constant(value.cast_unsigned())));
    }

    /// Sets a register to an unknown value.
    pub(in crate::arch) fn kill(&mut self, register: u8) {
        self.written(register);
        self.state.set(register, None);
    }

    /// Sets a register to the word at a base plus an offset.
    pub(in crate::arch) fn load(&mut self, to: u8, base: u8, offset: i64) {
        self.written(to);
        let at = self.state.get(base).map(|base| base.plus(offset));
        let value = self.state.load(at, self.words);
        self.state.set(to, value);
    }

    /// Stores a register as a word.
    pub(in crate::arch) fn store(&mut self, from: u8, base: u8, offset: i64) {
        self.link.is_saved |= from == self.link_register;
        let at = self.state.get(base).map(|base| base.plus(offset));
        let value = self.state.get(from);
        self.state.store(at, self.word, value);
    }

    /// Stores bytes of unknown contents.
    pub(in crate::arch) fn overwrite(&mut self, base: u8, offset: i64, size: i64) {
        let at = self.state.get(base).map(|base| base.plus(offset));
        self.state.store(at, size, None);
    }
}

/// Runs the instruction at the start of the bytes. Its address has the lowest bit set in Thumb code.
pub(super) type RunFn<R> = fn(&[u8], u64, &mut EffectMachine<'_>) -> R;

/// Interpreter of a processor's instructions.
pub(super) struct EffectForm {
    /// Runs an instruction that is not a branch.
    pub(super) run: RunFn<()>,
    /// Runs a return, and returns the register that it jumps to; `None` if that is always the link register.
    pub(super) returns_to: Option<RunFn<u8>>,
}

impl ArchDescriptor {
    /// Runs the instruction at an address, which is not a branch. It does nothing for the x86 family, which has its own
    /// interpreter.
    pub(crate) fn run(
        &self,
        bytes: &[u8],
        at: u64,
        state: &mut PathState,
        words: &mut MemoryWords,
    ) -> LinkUse {
        let mut machine = EffectMachine::new(state, words);
        if let Some(effect) = &self.effect {
            (effect.run)(bytes, at, &mut machine);
        }
        machine.link
    }

    /// Runs the return at an address, and returns the register that it jumps to.
    pub(crate) fn run_return(
        &self,
        bytes: &[u8],
        at: u64,
        state: &mut PathState,
        words: &mut MemoryWords,
    ) -> u8 {
        let returns_to = self.effect.as_ref().and_then(|effect| effect.returns_to);
        returns_to.map_or(self.return_address, |run| {
            run(bytes, at, &mut EffectMachine::new(state, words))
        })
    }
}

/// Returns the first word, zero-padded if the bytes are fewer.
pub(super) fn padded_word(bytes: &[u8]) -> u32 {
    let mut word = [0; 4];
    word.iter_mut().zip(bytes).for_each(|(to, &from)| *to = from);
    u32::from_le_bytes(word)
}
