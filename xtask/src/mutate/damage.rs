//! Seeded damage: each run of a seed damages the same bytes in the same way.

use std::ops::Range;

/// Maximum number of bytes that one damage removes, repeats, copies or overwrites.
const LONGEST: usize = 64;
/// Number of attempts to find a damage that changes something.
const TRIES: usize = 16;
/// Numbers at the ends of their ranges, truncated to the width at which they are written.
const EXTREMES: &[u64] = &[
    0,
    1,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    1 << 47,
    (1 << 63) - 1,
    1 << 63,
    u64::MAX - 7,
    u64::MAX,
];

/// Pseudo-random numbers from a seed (`SplitMix64`).
pub(super) struct Random(u64);

impl Random {
    /// Returns the numbers of one run.
    pub(super) const fn new(seed: u64, run: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ run.wrapping_mul(0xd1b5_4a32_d192_ed03))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, which is above 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap_or(0)
    }

    /// Returns one of several items; `None` if there are none.
    pub(super) fn pick<'i, T>(&mut self, items: &'i [T]) -> Option<&'i T> {
        items.get(self.below(items.len()))
    }
}

/// Kind of damage to a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Damage {
    /// Flips one bit.
    Flip,
    /// Replaces an integer by one of [`EXTREMES`].
    Extreme,
    /// Overwrites bytes with zeros.
    Zeros,
    /// Truncates the file.
    Cut,
    /// Removes bytes.
    Remove,
    /// Repeats bytes.
    Duplicate,
    /// Overwrites bytes with those of another position.
    Splice,
}

impl Damage {
    const ALL: &'static [Self] = &[
        Self::Flip,
        Self::Extreme,
        Self::Zeros,
        Self::Cut,
        Self::Remove,
        Self::Duplicate,
        Self::Splice,
    ];

    /// Damages a copy of the bytes within a range. Returns `None` if nothing changed.
    fn apply(
        self,
        bytes: &[u8],
        range: &Range<usize>,
        random: &mut Random,
    ) -> Option<(usize, Vec<u8>)> {
        let at = range.start + random.below(range.len());
        let len = (1 + random.below(LONGEST)).min(range.end - at);
        let mut copy = bytes.to_vec();
        match self {
            Self::Flip => *copy.get_mut(at)? ^= 1 << random.below(8),
            Self::Extreme => {
                let width = 1 << random.below(4);
                let at = at / width * width;
                let value = random.pick(EXTREMES)?.to_le_bytes();
                copy.get_mut(at..at + width)?.copy_from_slice(value.get(..width)?);
            }
            Self::Zeros => copy.get_mut(at..at + len)?.fill(0),
            Self::Cut => copy.truncate(at),
            Self::Remove => drop(copy.drain(at..at + len)),
            Self::Duplicate => drop(copy.splice(at..at, bytes.get(at..at + len)?.iter().copied())),
            Self::Splice => {
                let from = random.below(bytes.len() - len + 1);
                copy.get_mut(at..at + len)?.copy_from_slice(bytes.get(from..from + len)?);
            }
        }
        (copy != bytes).then_some((at, copy))
    }
}

/// A damaged file.
pub(super) struct Damaged {
    pub(super) damage: Damage,
    /// Offset of the first byte that may differ.
    pub(super) at: usize,
    pub(super) bytes: Vec<u8>,
}

/// Damages a copy of the bytes once, within one of several ranges. Returns `None` if many attempts changed nothing.
pub(super) fn damage(
    bytes: &[u8],
    ranges: &[&Range<usize>],
    random: &mut Random,
) -> Option<Damaged> {
    let damage = *random.pick(Damage::ALL)?;
    (0..TRIES).find_map(|_| {
        let range = random.pick(ranges)?;
        let (at, bytes) = damage.apply(bytes, range, random)?;
        Some(Damaged { damage, at, bytes })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_repeats_itself_and_changes_the_range_alone() {
        let bytes: Vec<u8> = (0..=255).collect();
        let mut found = Vec::new();
        for run in 0..200 {
            let damaged = damage(&bytes, &[&(100..140)], &mut Random::new(7, run)).unwrap();
            let again = damage(&bytes, &[&(100..140)], &mut Random::new(7, run)).unwrap();
            assert_eq!((damaged.at, &damaged.bytes), (again.at, &again.bytes));
            assert_eq!(damaged.bytes[..96], bytes[..96]);
            let n_after = match damaged.damage {
                Damage::Cut => 0,
                _ => 256 - 144,
            };
            assert!(damaged.bytes.ends_with(&bytes[256 - n_after..]), "{:?}", damaged.damage);
            assert_ne!(damaged.bytes, bytes);
            found.push(damaged.damage);
        }
        assert!(Damage::ALL.iter().all(|damage| found.contains(damage)));
    }
}
