//! All strings of a profile in the escaping of one format, done once for each distinct string.

use profile::{StringId, Strings};

/// The strings of a profile, escaped. Those that need no escaping, nearly all, are not copied.
#[derive(Debug)]
pub(crate) struct Escaped<'a> {
    plain: &'a Strings,
    /// By string: `CLEAN`, or the index in `changed`.
    slots: Vec<u32>,
    changed: Vec<Box<[u8]>>,
}

const CLEAN: u32 = u32::MAX;

impl<'a> Escaped<'a> {
    /// Escapes all `strings` with `escape`, which appends its second argument to its first.
    pub(crate) fn new(strings: &'a Strings, escape: fn(&mut Vec<u8>, &[u8])) -> Self {
        let mut scratch = Vec::new();
        let mut changed: Vec<Box<[u8]>> = Vec::new();
        let slots = strings.iter().map(|string| {
            scratch.clear();
            escape(&mut scratch, string);
            if scratch == string {
                return CLEAN;
            }
            changed.push(scratch.as_slice().into());
            changed.len() as u32 - 1
        });
        let slots = slots.collect();
        Self { plain: strings, slots, changed }
    }

    /// The escaped string; empty where there is none of that id.
    #[inline]
    pub(crate) fn get(&self, id: StringId) -> &[u8] {
        match self.slots.get(id.0 as usize).copied() {
            None | Some(CLEAN) => self.plain.get(id),
            Some(slot) => self.changed.get(slot as usize).map_or(&[], |text| text),
        }
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
        let escaped = Escaped::new(&strings, push_json);
        assert_eq!(escaped.get(plain), b"main");
        assert_eq!(escaped.get(quoted), b"operator\\\"\\\"_s");
        assert_eq!(escaped.get(StringId(9)), b"");
        assert_eq!(escaped.changed.len(), 1);
    }
}
