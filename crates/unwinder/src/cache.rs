//! The rule cache: (file, address in the file) to rule, shared by all threads and all processes of the recording.
//! Reads take no lock, entries are never changed or evicted.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use address::Svma;

use crate::rule::Rule;

/// One cached rule, half a cache line. `key` 0 is empty, [`BUSY`] is being written.
#[derive(Default, Debug)]
#[repr(align(32))]
struct Entry {
    key: AtomicU64,
    words: [AtomicU64; 3],
}

/// An entry that a thread is filling.
const BUSY: u64 = 1;

/// How many neighbours are looked at before a table counts as full for a key.
const PROBES: usize = 8;

/// Sizes of the tables, as powers of two: 2 MiB, 8 MiB, 32 MiB. A larger one is made when the ones before are full
/// for some key; what finds no place in any is compiled again each time.
const LEVELS: [u32; 3] = [16, 18, 20];

/// A cache of rules.
#[derive(Debug)]
pub(crate) struct RuleCache {
    levels: [OnceLock<Box<[Entry]>>; 3],
}

impl RuleCache {
    pub(crate) fn new() -> Self {
        Self { levels: [const { OnceLock::new() }; 3] }
    }

    /// The key of an address in a file; `None` for addresses beyond what a key can hold.
    pub(crate) fn key(image: u32, svma: Svma) -> Option<u64> {
        const ADDRESS_BITS: u32 = 44;
        let image = u64::from(image) + 1;
        (svma.0 >> ADDRESS_BITS == 0 && image >> (64 - ADDRESS_BITS) == 0)
            .then_some(image << ADDRESS_BITS | svma.0)
    }

    /// The rule of a key, if it is there.
    #[inline]
    pub(crate) fn get(&self, key: u64) -> Option<Rule> {
        for (level, bits) in self.levels.iter().zip(LEVELS) {
            let table = level.get()?;
            let start = start_of(key, bits);
            for entry in table.get(start..start + PROBES)? {
                match entry.key.load(Ordering::Acquire) {
                    found if found == key => {
                        return Some(Rule::from_words(
                            [0, 1, 2].map(|i| entry.words[i].load(Ordering::Relaxed)),
                        ));
                    }
                    0 => return None,
                    _ => {}
                }
            }
        }
        None
    }

    /// Adds a rule. Where another thread added it meanwhile, it may stand twice, which does no harm: both are equal.
    pub(crate) fn insert(&self, key: u64, rule: Rule) {
        for (level, bits) in self.levels.iter().zip(LEVELS) {
            let table =
                level.get_or_init(|| (0..(1 << bits) + PROBES).map(|_| Entry::default()).collect());
            let start = start_of(key, bits);
            for entry in table.get(start..start + PROBES).unwrap_or_default() {
                if entry.key.compare_exchange(0, BUSY, Ordering::Relaxed, Ordering::Relaxed).is_ok()
                {
                    for (word, value) in entry.words.iter().zip(rule.to_words()) {
                        word.store(value, Ordering::Relaxed);
                    }
                    // Pairs with the acquire in `get`: who sees the key sees the words.
                    entry.key.store(key, Ordering::Release);
                    return;
                }
            }
        }
    }
}

/// The first entry to look at in a table of 2^`bits`.
fn start_of(key: u64, bits: u32) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_rules_are_found_again() {
        let cache = RuleCache::new();
        let rule = |svma: u64| Rule::complex(svma as u32);
        let n = 200_000;
        for svma in 0..n {
            cache.insert(RuleCache::key(3, Svma(svma)).expect("a small address"), rule(svma));
        }
        let found = (0..n).filter(|&svma| {
            cache.get(RuleCache::key(3, Svma(svma)).expect("small")) == Some(rule(svma))
        });
        assert_eq!(found.count(), 200_000);
        assert_eq!(cache.get(RuleCache::key(4, Svma(5)).expect("small")), None);
        assert_eq!(RuleCache::key(3, Svma(1 << 44)), None);
    }
}
