//! The unwind rules of one file, in the layout of a cache file: addresses, each with the number of a rule.
//! The format of a rule is up to the caller.

use hashbrown::HashMap;

use crate::key::CacheKey;
use crate::layout::{
    RULE, RULES_HEAD, RULES_MAGIC, RULES_VERSION, UNCHECKED, checksum, u32_at, u64_at,
};

/// Maximum number of addresses per file; such a table has 25 MB.
const MOST: usize = 1 << 22;

/// Rules for addresses of one file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RuleRows {
    /// First address, as SVMA.
    pub first: u64,
    /// All addresses as distances from the first one; ascending.
    pub offsets: Vec<u32>,
    /// Rule number of each address; always valid.
    pub numbers: Vec<u16>,
    /// Distinct rules.
    pub rules: Vec<[u8; RULE]>,
}

impl RuleRows {
    /// Parses the rules in a cache file; `None` if they are damaged, of another version, or stored under another key.
    pub(crate) fn read(bytes: &[u8], key: &CacheKey) -> Option<Self> {
        (bytes.get(UNCHECKED..UNCHECKED + CacheKey::SIZE)? == key.0)
            .then(|| Self::read_any(bytes))?
    }

    /// The same, for any key.
    pub(crate) fn read_any(bytes: &[u8]) -> Option<Self> {
        let is_ours = bytes.starts_with(&RULES_MAGIC)
            && u32_at(bytes, 8) == RULES_VERSION
            && u32_at(bytes, 12) == 0;
        if !is_ours || checksum(bytes.get(UNCHECKED..)?) != u64_at(bytes, 16) {
            return None;
        }
        let (head, rest) = bytes.split_at_checked(RULES_HEAD)?;
        let numbers_at = UNCHECKED + CacheKey::SIZE;
        let first = u64_at(head, numbers_at);
        let addresses = u32_at(head, numbers_at + 8) as usize;
        let n_rules = u32_at(head, numbers_at + 12) as usize;
        if addresses > MOST {
            return None;
        }
        let (offsets, rest) = rest.split_at_checked(4 * addresses)?;
        let (numbers, rules) = rest.split_at_checked(2 * addresses)?;
        let (offsets, _) = offsets.as_chunks();
        let (numbers, _) = numbers.as_chunks();
        let (rules, behind) = rules.as_chunks::<RULE>();
        let rows = Self {
            first,
            offsets: offsets.iter().map(|it| u32::from_le_bytes(*it)).collect(),
            numbers: numbers.iter().map(|it| u16::from_le_bytes(*it)).collect(),
            rules: rules.to_vec(),
        };
        (behind.is_empty() && rows.rules.len() == n_rules && rows.is_consistent()).then_some(rows)
    }

    /// Returns true if addresses ascend and all rule numbers are valid.
    fn is_consistent(&self) -> bool {
        self.offsets.first().is_none_or(|&first| first == 0)
            && self.offsets.is_sorted_by(|a, b| a < b)
            && self.numbers.iter().all(|&number| usize::from(number) < self.rules.len())
            && self.first.checked_add(self.offsets.last().copied().unwrap_or(0).into()).is_some()
    }

    /// Returns these rules merged with new ones, by ascending addresses; for common addresses, the new ones win.
    /// Rules that do not fit the layout are omitted.
    pub(crate) fn with(&self, new: &[(u64, [u8; RULE])]) -> Self {
        let old = self.offsets.iter().zip(&self.numbers);
        let mut old = old.map(|(&offset, &number)| (self.first + u64::from(offset), number));
        let mut merged = MergedRules::of(&self.rules);
        let mut next_old = old.next();
        for (address, rule) in new {
            while let Some((before, number)) = next_old.filter(|(before, _)| before <= address) {
                if before < *address {
                    merged.add(before, number);
                }
                next_old = old.next();
            }
            if let Some(number) = merged.number(rule) {
                merged.add(*address, number);
            }
        }
        next_old.into_iter().chain(old).for_each(|(address, number)| merged.add(address, number));
        merged.rows
    }

    /// Returns the bytes of a file; `None` if there are too many rows.
    pub(crate) fn write(&self, key: &CacheKey) -> Option<Vec<u8>> {
        let size = RULES_HEAD + 6 * self.offsets.len() + RULE * self.rules.len();
        let mut bytes = Vec::with_capacity(size);
        bytes.extend_from_slice(&RULES_MAGIC);
        bytes.extend_from_slice(&RULES_VERSION.to_le_bytes());
        bytes.resize(UNCHECKED, 0);
        bytes.extend_from_slice(&key.0);
        bytes.extend_from_slice(&self.first.to_le_bytes());
        for number in [self.offsets.len(), self.rules.len()] {
            bytes.extend_from_slice(&u32::try_from(number).ok()?.to_le_bytes());
        }
        self.offsets.iter().for_each(|it| bytes.extend_from_slice(&it.to_le_bytes()));
        self.numbers.iter().for_each(|it| bytes.extend_from_slice(&it.to_le_bytes()));
        self.rules.iter().for_each(|it| bytes.extend_from_slice(it));
        let sum = checksum(bytes.get(UNCHECKED..)?).to_le_bytes();
        bytes.get_mut(UNCHECKED - sum.len()..UNCHECKED)?.copy_from_slice(&sum);
        Some(bytes)
    }
}

/// A merged table under construction.
struct MergedRules {
    rows: RuleRows,
    /// Numbers of the rules.
    rule_numbers: HashMap<[u8; RULE], u16>,
}

impl MergedRules {
    /// Creates a table without addresses, with the earlier rules under their numbers.
    fn of(rules: &[[u8; RULE]]) -> Self {
        let rule_numbers = rules.iter().copied().zip(0..).collect();
        Self { rows: RuleRows { rules: rules.to_vec(), ..RuleRows::default() }, rule_numbers }
    }

    /// Returns the number of a rule, adding it if needed; `None` if there are too many.
    fn number(&mut self, rule: &[u8; RULE]) -> Option<u16> {
        if let Some(&number) = self.rule_numbers.get(rule) {
            return Some(number);
        }
        let number = u16::try_from(self.rows.rules.len()).ok()?;
        self.rows.rules.push(*rule);
        self.rule_numbers.insert(*rule, number);
        Some(number)
    }

    /// Adds an address, which must be greater than all earlier ones.
    fn add(&mut self, address: u64, number: u16) {
        let RuleRows { first, offsets, numbers, .. } = &mut self.rows;
        if offsets.is_empty() {
            *first = address;
        }
        let offset = address.checked_sub(*first).and_then(|offset| u32::try_from(offset).ok());
        let ascends = |offset: &u32| offsets.last().is_none_or(|last| last < offset);
        if let Some(offset) = offset.filter(ascends)
            && offsets.len() < MOST
        {
            offsets.push(offset);
            numbers.push(number);
        }
    }
}
