//! hotspot's rule: a word outside of the dump has the value that another sample of the process showed.
//!
//! Its backend unwinds with elfutils' libdw, one sample after another in time order. It remembers each word that libdw
//! reads from a dump (return addresses and saved registers) by its address in the process, the last value only. A word
//! outside of the dump is looked up there, regardless of its age and thread. Frames from there on are counted as
//! "guessed", but not marked.
//!
//! Here our walker replaces libdw: the dump is extended with the remembered words. The remembered words are those that
//! the row of each frame has at an offset from the CFA ([`super::slots`]).
//!
//! Source: `memoryRead` in `app/perfunwind.cpp` of KDAB/perfparser (2024-01).

use std::collections::BTreeMap;

use super::walk::Node;

/// Maximum distance of looked-up words above the stack pointer, in bytes: more than a chain needs that is complete with
/// a dump of 64 KiB.
const REACH: u64 = 1 << 20;

/// Represents an unknown word: not a user-space address, so a walk that needs it ends.
const UNKNOWN: u64 = 0x5bad_5bad_5bad_5bad;

/// Size of a stack word, in bytes.
const WORD: usize = size_of::<u64>();

/// Stack dump of a sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dump<'a> {
    pub(super) pid: i32,
    /// Stack pointer.
    pub(super) sp: u64,
    /// Bytes of the stack, little-endian.
    pub(super) bytes: &'a [u8],
}

/// Words that were read from the dumps of each process, by address.
#[derive(Debug, Default)]
pub(super) struct StackValues(BTreeMap<i32, BTreeMap<u64, u64>>);

impl StackValues {
    /// Returns the bytes of a dump with the remembered words above them; `None` if there are none.
    pub(super) fn continued(&self, dump: Dump<'_>) -> Option<Vec<u8>> {
        let whole = dump.bytes.len() / WORD * WORD;
        let mut bytes = dump.bytes.get(..whole)?.to_vec();
        let end = dump.sp.checked_add(whole as u64)?;
        for (&address, &value) in self.0.get(&dump.pid)?.range(end..end.saturating_add(REACH)) {
            let at = usize::try_from(address - dump.sp).ok()?;
            if !at.is_multiple_of(WORD) {
                continue;
            }
            while bytes.len() < at {
                bytes.extend_from_slice(&UNKNOWN.to_le_bytes());
            }
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        (bytes.len() > whole).then_some(bytes)
    }

    /// Remembers the words that the steps of a chain read from a dump. `slots` returns, by frame index, the offsets
    /// from its CFA at which a frame saved its caller's registers, in bytes. The CFA of the outermost frame is unknown.
    pub(super) fn remember(
        &mut self,
        dump: Dump<'_>,
        nodes: &[Node],
        slots: &mut dyn FnMut(usize) -> Vec<i64>,
    ) {
        let values = self.0.entry(dump.pid).or_default();
        for (index, caller) in nodes.iter().skip(1).enumerate() {
            for offset in slots(index) {
                let address = caller.sp.wrapping_add_signed(offset);
                if let Some(value) = word_at(dump, address) {
                    values.insert(address, value);
                }
            }
        }
    }
}

/// Returns a word of a dump.
fn word_at(dump: Dump<'_>, address: u64) -> Option<u64> {
    let at = usize::try_from(address.checked_sub(dump.sp)?).ok()?;
    let word = dump.bytes.get(at..at.checked_add(WORD)?)?;
    Some(u64::from_le_bytes(word.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a stack with frames of two words; the upper word is the return address.
    fn stack(callers: &str) -> Vec<u8> {
        callers.bytes().flat_map(|it| [99, u64::from(it)]).flat_map(u64::to_le_bytes).collect()
    }

    /// Unwinds such a stack to `m`. Returns the callers as letters, and `...` if `m` is not reached.
    fn walked(sp: u64, bytes: &[u8]) -> (String, Vec<Node>) {
        let (mut letters, mut nodes) = (String::new(), vec![Node { ip: 0, sp }]);
        for (frame, above) in bytes.chunks_exact(2 * WORD).zip(1..) {
            let word = u64::from_le_bytes(frame[WORD..].try_into().unwrap());
            let Ok(letter) = u8::try_from(word) else { break };
            letters.push(char::from(letter));
            nodes.push(Node { ip: word, sp: sp + above * 16 });
            if letter == b'm' {
                return (letters, nodes);
            }
        }
        (letters + "...", nodes)
    }

    /// Returns the chain of the last of some samples (process, frames between its stack pointer and the end of the
    /// stack, callers in the dump), in time order.
    fn last(samples: &[(i32, u64, &str)]) -> String {
        let mut values = StackValues::default();
        let mut letters = String::new();
        for &(pid, n_frames, callers) in samples {
            let sp = 0x8000 - n_frames * 16;
            let bytes = stack(callers);
            let dump = Dump { pid, sp, bytes: &bytes };
            let found = walked(sp, &values.continued(dump).unwrap_or_else(|| bytes.clone()));
            values.remember(dump, &found.1, &mut |_| vec![-8]);
            letters = found.0;
        }
        letters
    }

    #[test]
    fn words_beyond_the_dump_are_those_of_the_last_sample_that_had_them() {
        assert_eq!(last(&[(1, 3, "abm"), (1, 5, "xya")]), "xyabm");
        assert_eq!(last(&[(1, 3, "abm"), (1, 3, "cdm"), (1, 5, "xya")]), "xyadm");
        // Words of later samples, and words that no sample had, are unknown.
        assert_eq!(last(&[(1, 5, "xya")]), "xya...");
        assert_eq!(last(&[(1, 1, "m"), (1, 5, "xya")]), "xya...");
    }

    #[test]
    fn a_word_is_known_by_its_address_only() {
        // A word is not looked up by function: z returns to the address to which a had returned.
        assert_eq!(last(&[(1, 3, "abm"), (1, 5, "xyz")]), "xyzbm");
        // At another depth there is another word, or none.
        assert_eq!(last(&[(1, 3, "abm"), (1, 4, "xya")]), "xyam");
        assert_eq!(last(&[(1, 3, "abm"), (1, 9, "xya")]), "xya...");
    }

    #[test]
    fn recursion_goes_on_where_its_stack_is() {
        assert_eq!(last(&[(1, 5, "rrrrm"), (1, 7, "rrr")]), "rrrrrrm");
    }

    #[test]
    fn threads_are_not_asked_for_and_processes_are() {
        assert_eq!(last(&[(1, 3, "abm"), (2, 5, "xya")]), "xya...");
        assert_eq!(last(&[(1, 3, "abm"), (2, 3, "cdm"), (1, 5, "xya")]), "xyabm");
    }

    #[test]
    fn what_was_not_read_is_not_remembered() {
        let bytes = stack("abm");
        let dump = Dump { pid: 1, sp: 0x8000, bytes: &bytes };
        let nodes = [0x8000, 0x8010, 0x8020].map(|sp| Node { ip: 1, sp });
        let mut slots = |index| if index == 0 { vec![-8, -16] } else { vec![-8, 64] };
        let mut values = StackValues::default();
        values.remember(dump, &nodes, &mut slots);
        let expected = [(0x8000, 99), (0x8008, u64::from(b'a')), (0x8018, u64::from(b'b'))];
        assert_eq!(values.0, BTreeMap::from([(1, BTreeMap::from(expected))]));
        let inner = Dump { pid: 1, sp: 0x7ff0, bytes: &bytes[..16] };
        let words = [99, u64::from(b'a'), 99, u64::from(b'a'), UNKNOWN, u64::from(b'b')];
        let expected: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        assert_eq!(values.continued(inner), Some(expected));
    }
}
