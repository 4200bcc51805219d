//! The rule cache: (image, address in the image) to rule. All threads and processes share it, and so do runs that share
//! the images. Reads take no lock. Entries are never changed or evicted: a full cache is replaced as a whole.
//!
//! An address takes eight bytes, because hundreds of thousands of them are looked up all the time. The bytes hold the
//! rest of its key and the index of its rule. There are few distinct rules; every thread has a copy of them.
//!
//! ```text
//!   key     16 bits serial of the image, 40 bits address; multiplied by an odd number, which is reversible
//!   entry   the lower 42 bits of that, 22 bits index of the rule plus one; the upper bits select the bucket
//! ```

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock};

use address::Svma;
use hashbrown::HashMap;

use crate::arch::NARROW;
use crate::rule::Rule;

/// The entries of a cache line. 0 is empty; they are filled from the front.
#[derive(Default, Debug)]
#[repr(align(64))]
struct Bucket([AtomicU64; 8]);

const ADDRESS_BITS: u32 = 40;
const KEY_BITS: u32 = 56;
/// Bit in the address of a key for 32-bit processors, which have no such address. They need separate entries: files of
/// 64-bit processors have no rules for them, and vice versa.
const OF_NARROW: u64 = 1 << (ADDRESS_BITS - 1);
/// Width of the part of an entry that holds the index of the rule plus one.
const RULE_BITS: u32 = 22;

/// Numbers of buckets, as powers of two: 1 MiB, 1 MiB, 8 MiB, 32 MiB. A table is made when the bucket of some key is
/// full in all former ones. Rules that fit into none are compiled again each time. Invariant: the index of a bucket
/// and the tag of an entry together contain the whole key.
const LEVELS: [u32; 4] = [14, 14, 17, 19];
const _: () = assert!(KEY_BITS - LEVELS[0] + RULE_BITS <= 64);

/// A key, with its bits mixed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RuleKey(u64);

impl RuleKey {
    /// Number of images that a key can distinguish, by their serials.
    pub(crate) const IMAGES: usize = 1 << (KEY_BITS - ADDRESS_BITS);

    /// Returns the key of an address in an image, for processors with words of `WORD` bytes; `None` if the address or
    /// the serial is too large.
    #[inline]
    pub(crate) const fn new<const WORD: u64>(image: u32, svma: Svma) -> Option<Self> {
        const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
        let address_bits = if WORD == NARROW { ADDRESS_BITS - 1 } else { ADDRESS_BITS };
        if svma.0 >> address_bits != 0 || image >> (KEY_BITS - ADDRESS_BITS) != 0 {
            return None;
        }
        let processor = if WORD == NARROW { OF_NARROW } else { 0 };
        let key = (image as u64) << ADDRESS_BITS | svma.0 | processor;
        Some(Self(key.wrapping_mul(SPREAD) & ((1 << KEY_BITS) - 1)))
    }

    const fn bucket(self, bits: u32) -> usize {
        (self.0 >> (KEY_BITS - bits)) as usize
    }

    /// Returns the part of an entry above the index of its rule.
    const fn tag(self) -> u64 {
        self.0 << RULE_BITS
    }
}

/// A thread's copy of the distinct rules, by index.
#[derive(Debug, Default)]
pub(crate) struct LocalRules(Vec<Rule>);

/// The distinct rules.
#[derive(Debug, Default)]
struct Rules {
    all: Vec<Rule>,
    indexes: HashMap<Rule, u32>,
}

/// A cache of rules.
#[derive(Debug)]
pub(crate) struct RuleCache {
    levels: [OnceLock<Box<[Bucket]>>; LEVELS.len()],
    rules: RwLock<Rules>,
    /// True if some rule did not fit.
    is_full: AtomicBool,
}

impl RuleCache {
    pub(crate) fn new() -> Self {
        Self {
            levels: [const { OnceLock::new() }; LEVELS.len()],
            rules: RwLock::default(),
            is_full: AtomicBool::new(false),
        }
    }

    /// Returns true if some rule did not fit, so that it is made again each time.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// Returns the rule of a key, if it is cached.
    #[inline]
    pub(crate) fn get(&self, key: RuleKey, local: &mut LocalRules) -> Option<Rule> {
        for (level, bits) in self.levels.iter().zip(LEVELS) {
            for entry in &level.get()?.get(key.bucket(bits))?.0 {
                // Pairs with the release in `insert`: a thread that reads the entry also sees its rule.
                let entry = entry.load(Ordering::Acquire);
                if (entry ^ key.tag()) >> RULE_BITS == 0 && entry != 0 {
                    return self.rule(entry, local);
                }
                if entry == 0 {
                    return None;
                }
            }
        }
        None
    }

    #[inline]
    fn rule(&self, entry: u64, local: &mut LocalRules) -> Option<Rule> {
        let index = (entry & ((1 << RULE_BITS) - 1)) as usize - 1;
        if index >= local.0.len() {
            self.learn(local);
        }
        local.0.get(index).copied()
    }

    /// Updates a thread's copy.
    #[cold]
    fn learn(&self, local: &mut LocalRules) {
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        local.0.extend_from_slice(rules.all.get(local.0.len()..).unwrap_or_default());
    }

    /// Adds a rule. If another thread adds it at the same time, it may be stored twice, which is harmless: both are
    /// equal.
    pub(crate) fn insert(&self, key: RuleKey, rule: Rule) {
        let Some(index) = self.index(rule) else {
            self.is_full.store(true, Ordering::Relaxed);
            return;
        };
        let new = key.tag() | u64::from(index + 1);
        for (level, bits) in self.levels.iter().zip(LEVELS) {
            let table =
                level.get_or_init(|| (0..1_u32 << bits).map(|_| Bucket::default()).collect());
            for entry in table.get(key.bucket(bits)).map_or(&[][..], |bucket| &bucket.0) {
                if entry.compare_exchange(0, new, Ordering::Release, Ordering::Relaxed).is_ok() {
                    return;
                }
            }
        }
        self.is_full.store(true, Ordering::Relaxed);
    }

    /// Returns the index of a rule; `None` if there are more than an entry can distinguish.
    fn index(&self, rule: Rule) -> Option<u32> {
        let existing = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(&index) = existing.indexes.get(&rule) {
            return Some(index);
        }
        drop(existing);
        let mut rules = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        let Rules { all, indexes } = &mut *rules;
        if all.len() + 1 >= 1 << RULE_BITS {
            return None;
        }
        Some(*indexes.entry(rule).or_insert_with(|| {
            all.push(rule);
            all.len() as u32 - 1
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::WIDE;

    const fn full(row: u32) -> Rule {
        Rule::Full { row, signal: false }
    }

    #[test]
    fn many_rules_are_found_again() {
        let cache = RuleCache::new();
        let mut local = LocalRules::default();
        let key = |file, svma| RuleKey::new::<WIDE>(file, Svma(svma)).expect("a small address");
        let rule = |svma: u64| full(svma as u32 % 5_000);
        let n = 200_000;
        for svma in 0..n {
            cache.insert(key(3, svma), rule(svma));
        }
        let found = (0..n).filter(|&svma| cache.get(key(3, svma), &mut local) == Some(rule(svma)));
        assert_eq!(found.count(), 200_000);
        assert_eq!(local.0.len(), 5_000);
        // An older copy is updated.
        cache.insert(key(3, n), full(u32::MAX));
        assert_eq!(cache.get(key(3, n), &mut local), Some(full(u32::MAX)));
        let others = (0..n).filter(|&svma| cache.get(key(4, svma), &mut local).is_some());
        assert_eq!(others.count(), 0);
    }

    #[test]
    fn what_a_key_cannot_hold() {
        assert!(RuleKey::new::<WIDE>(0xffff, Svma((1 << 40) - 1)).is_some());
        assert_eq!(RuleKey::new::<WIDE>(3, Svma(1 << 40)), None);
        assert_eq!(RuleKey::new::<WIDE>(1 << 16, Svma(5)), None);
    }

    #[test]
    fn a_rule_that_finds_no_place_makes_the_cache_full() {
        let cache = RuleCache::new();
        let mut local = LocalRules::default();
        // Keys of the same bucket in every level.
        let bucket = RuleKey::new::<WIDE>(1, Svma(0)).expect("within").bucket(LEVELS[3]);
        let mut colliding = (0..)
            .filter_map(|svma| RuleKey::new::<WIDE>(1, Svma(svma)))
            .filter(|key| key.bucket(LEVELS[3]) == bucket);
        let held: Vec<_> = colliding.by_ref().take(32).collect();
        held.iter().for_each(|&key| cache.insert(key, full(7)));
        assert!(!cache.is_full());
        let other = colliding.next().expect("there are more");
        cache.insert(other, full(7));
        assert!(cache.is_full());
        assert_eq!(cache.get(other, &mut local), None);
        assert!(held.iter().all(|&key| cache.get(key, &mut local) == Some(full(7))));
    }

    /// The bucket and the entry together identify the key.
    #[test]
    fn no_two_keys_are_one() {
        let cache = RuleCache::new();
        let mut local = LocalRules::default();
        for bit in 0..56 {
            let image = (1_u64 << bit >> ADDRESS_BITS) as u32;
            let svma = Svma((1 << bit) & ((1 << ADDRESS_BITS) - 1));
            let key = RuleKey::new::<WIDE>(image, svma).expect("within");
            assert_eq!(cache.get(key, &mut local), None);
            cache.insert(key, full(bit));
            assert_eq!(cache.get(key, &mut local), Some(full(bit)));
        }
    }
}
