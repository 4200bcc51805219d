//! The effect of instructions on a path's registers and stack slots, in the few words that matter for unwinding.

use crate::code::value::{State, Sum, Words};

/// What one instruction does to the link register, apart from the state.
#[derive(Clone, Copy, Default, Debug)]
pub(in crate::code) struct LinkUse {
    /// It gets another value.
    pub(in crate::code) is_written: bool,
    /// Its value is saved.
    pub(in crate::code) is_saved: bool,
}

/// The state of a path while an instruction is run. Registers have their DWARF numbers, as those of the frames.
pub(super) struct Machine<'s> {
    state: &'s mut State,
    words: &'s mut Words,
    pub(super) link: LinkUse,
    link_register: u8,
    word: i64,
}

impl<'s> Machine<'s> {
    pub(super) fn new(state: &'s mut State, words: &'s mut Words) -> Self {
        let link_register = state.arch.return_address();
        let word = state.word();
        Self { state, words, link: LinkUse::default(), link_register, word }
    }

    const fn written(&mut self, register: u8) {
        self.link.is_written |= register == self.link_register;
    }

    /// The register becomes another one plus a constant.
    pub(super) fn set(&mut self, to: u8, from: u8, plus: i64) {
        self.written(to);
        self.link.is_saved |= from == self.link_register;
        let value = self.state.get(from).map(|value| value.plus(plus));
        self.state.set(to, value);
    }

    /// The register becomes the sum of two, of which one is a constant.
    pub(super) fn add(&mut self, to: u8, one: u8, other: u8) {
        let constant = |register: u8| self.state.get(register).and_then(Sum::as_constant);
        match (constant(one), constant(other)) {
            (_, Some(plus)) => self.set(to, one, plus.cast_signed()),
            (Some(plus), None) => self.set(to, other, plus.cast_signed()),
            (None, None) => self.kill(to),
        }
    }

    pub(super) fn constant(&mut self, to: u8, value: i64) {
        self.written(to);
        self.state.set(to, Some(Sum::constant(value.cast_unsigned())));
    }

    /// The register gets an unknown value.
    pub(super) fn kill(&mut self, register: u8) {
        self.written(register);
        self.state.set(register, None);
    }

    /// The register becomes the word at a base plus an offset.
    pub(super) fn load(&mut self, to: u8, base: u8, offset: i64) {
        self.written(to);
        let at = self.state.get(base).map(|base| base.plus(offset));
        let value = self.state.load(at, self.words);
        self.state.set(to, value);
    }

    /// A register is stored as a word.
    pub(super) fn store(&mut self, from: u8, base: u8, offset: i64) {
        self.link.is_saved |= from == self.link_register;
        let at = self.state.get(base).map(|base| base.plus(offset));
        let value = self.state.get(from);
        self.state.store(at, self.word, value);
    }

    /// Bytes of unknown contents are stored.
    pub(super) fn overwrite(&mut self, base: u8, offset: i64, size: i64) {
        let at = self.state.get(base).map(|base| base.plus(offset));
        self.state.store(at, size, None);
    }
}

/// Sign-extends the lower bits of a field.
pub(super) const fn signed(field: u32, bits: u32) -> i64 {
    (((field << (32 - bits)).cast_signed()) >> (32 - bits)) as i64
}
