//! The strings of the outputs that are compared, each kept once.

use std::collections::BTreeMap;

/// Index of a string in [`Words`].
pub(crate) type Word = u32;

/// Strings of all outputs, each once. Word 0 is the empty one: unknown.
pub(crate) struct Words {
    texts: Vec<Box<str>>,
    index: BTreeMap<Box<str>, Word>,
}

impl Words {
    /// Only the empty string.
    pub(crate) fn new() -> Self {
        Self { texts: vec![Box::from("")], index: BTreeMap::from([(Box::from(""), 0)]) }
    }

    /// The index of a string.
    pub(crate) fn intern(&mut self, text: &str) -> Word {
        if let Some(&word) = self.index.get(text) {
            return word;
        }
        let word = Word::try_from(self.texts.len()).unwrap_or(0);
        self.texts.push(Box::from(text));
        self.index.insert(Box::from(text), word);
        word
    }

    /// The string at an index.
    pub(crate) fn text(&self, word: Word) -> &str {
        self.texts.get(word as usize).map_or("", |text| text)
    }

    /// Every string, in the order of the indexes.
    pub(crate) fn texts(&self) -> &[Box<str>] {
        &self.texts
    }
}
