//! Interned strings of the compared outputs.

use std::collections::BTreeMap;

/// Index of a string in [`StringTable`].
pub(crate) type StringId = u32;

/// Interned strings of all outputs. String 0 is the empty string: unknown.
pub(crate) struct StringTable {
    texts: Vec<Box<str>>,
    index: BTreeMap<Box<str>, StringId>,
}

impl StringTable {
    /// Creates a table with only the empty string.
    pub(crate) fn new() -> Self {
        Self { texts: vec![Box::from("")], index: BTreeMap::from([(Box::from(""), 0)]) }
    }

    /// Returns the index of a string.
    pub(crate) fn intern(&mut self, text: &str) -> StringId {
        if let Some(&word) = self.index.get(text) {
            return word;
        }
        let word = StringId::try_from(self.texts.len()).unwrap_or(0);
        self.texts.push(Box::from(text));
        self.index.insert(Box::from(text), word);
        word
    }

    /// Returns the string at an index.
    pub(crate) fn text(&self, word: StringId) -> &str {
        self.texts.get(word as usize).map_or("", |text| text)
    }

    /// Returns all strings by index.
    pub(crate) fn texts(&self) -> &[Box<str>] {
        &self.texts
    }
}
