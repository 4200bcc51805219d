//! All strings of a profile, escaped once per distinct string for one format.

use crate::render::truncation::push_truncated;
use profile::{StringId, Strings, Table, row_ids};

/// The escaped strings of a profile. Nearly all need no escaping; these are not copied.
#[derive(Debug)]
pub(crate) struct Escaped<'a> {
    plain: &'a Strings,
    /// By string: its index in `changed`; `None` if it is equal to the string in `plain`.
    slots: Table<StringId, Option<ChangedId>>,
    changed: Table<ChangedId, Box<[u8]>>,
}

row_ids! {
    /// Index of a string that escaping changed.
    ChangedId(u32);
}

impl<'a> Escaped<'a> {
    /// Escapes all `strings` with `escape`, which appends its second argument to its first.
    /// Results are truncated to `most` bytes.
    pub(crate) fn new(strings: &'a Strings, most: usize, escape: fn(&mut Vec<u8>, &[u8])) -> Self {
        let mut scratch = Vec::new();
        let mut changed = Table::<ChangedId, Box<[u8]>>::new();
        let slots = strings.iter().map(|string| {
            scratch.clear();
            push_truncated(&mut scratch, string, most, escape);
            if scratch == string {
                return None;
            }
            Some(changed.push(scratch.as_slice().into()))
        });
        let slots = slots.collect();
        Self { plain: strings, slots, changed }
    }

    /// Returns the escaped string; empty if there is none with this id.
    #[inline]
    pub(crate) fn get(&self, id: StringId) -> &[u8] {
        match self.slots.get(id).copied().flatten() {
            None => self.plain.get(id),
            Some(slot) => self.changed.get(slot).map_or(&[], |text| text),
        }
    }

    /// Iterates over all escaped strings in the order of their ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.plain.ids().map(|id| self.get(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::text::push_json;

    #[test]
    fn only_changed_strings_are_copied() {
        let mut strings = Strings::default();
        let plain = strings.intern(b"main");
        let quoted = strings.intern(b"operator\"\"_s");
        let escaped = Escaped::new(&strings, 64, push_json);
        assert_eq!(escaped.get(plain), b"main");
        assert_eq!(escaped.get(quoted), b"operator\\\"\\\"_s");
        assert_eq!(escaped.changed.len(), 1);
    }
}
