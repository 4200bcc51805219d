//! Difference of a repaired chain from the true one: both are aligned to minimize the frames without a partner.

use super::chains::Frame;

/// Numbers of frames without a partner in the other chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Difference {
    /// Frames that the true chain does not have.
    pub(super) alien: usize,
    /// Missing frames of the true chain that no gap represents.
    pub(super) missing: usize,
}

impl Difference {
    const NONE: Self = Self { alien: 0, missing: 0 };

    /// Returns true if the chains are equal, with a gap representing the frames that it replaces.
    pub(super) fn is_none(self) -> bool {
        self == Self::NONE
    }

    fn and_alien(self) -> Self {
        Self { alien: self.alien + 1, ..self }
    }

    fn and_missing(self) -> Self {
        Self { missing: self.missing + 1, ..self }
    }
}

/// Returns the smallest difference of a chain from the true one: fewest alien frames first, then fewest missing ones.
/// The order of frames counts. A gap represents any number of frames.
pub(super) fn difference(
    chain: &[Frame],
    truth: &[Frame],
    same: fn(&Frame, &Frame) -> bool,
) -> Difference {
    let is_pair = |(ours, theirs): &(&Frame, &Frame)| !ours.gap && same(ours, theirs);
    let inner = chain.iter().zip(truth).take_while(is_pair).count();
    let (chain, truth) =
        (chain.get(inner..).unwrap_or_default(), truth.get(inner..).unwrap_or_default());
    let outer = chain.iter().rev().zip(truth.iter().rev()).take_while(is_pair).count();
    let chain = chain.get(..chain.len() - outer).unwrap_or_default();
    let truth = truth.get(..truth.len() - outer).unwrap_or_default();

    // Row by row: smallest difference of the chain's first frames from the first `index` frames of the truth.
    let mut row: Vec<Difference> =
        (0..=truth.len()).map(|missing| Difference { alien: 0, missing }).collect();
    for frame in chain {
        let mut next = Vec::with_capacity(row.len());
        for (index, &above) in row.iter().enumerate() {
            let left = next.last().copied();
            let paired = index.checked_sub(1).and_then(|before| {
                let partner = truth.get(before)?;
                row.get(before).filter(|_| same(frame, partner)).copied()
            });
            let best = if frame.gap {
                left.map_or(above, |left: Difference| left.min(above))
            } else {
                let dropped = left.map(Difference::and_missing);
                [dropped, paired].into_iter().flatten().fold(above.and_alien(), Ord::min)
            };
            next.push(best);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truth::chains::lettered as frames;

    fn places(chain: &str, truth: &str) -> (usize, usize) {
        let found = difference(&frames(chain), &frames(truth), Frame::same_location);
        (found.alien, found.missing)
    }

    #[test]
    fn equal_chains_and_single_differences() {
        assert_eq!(places("abcd", "abcd"), (0, 0));
        assert_eq!(places("abXcd", "abcd"), (1, 0));
        assert_eq!(places("abd", "abcd"), (0, 1));
        assert_eq!(places("abXd", "abcd"), (1, 1));
        assert_eq!(places("", "abcd"), (0, 4));
        assert_eq!(places("ab", ""), (2, 0));
    }

    #[test]
    fn order_and_number_of_the_same_frame_count() {
        assert_eq!(places("abrrm", "abrm"), (1, 0));
        assert_eq!(places("abrm", "abrrm"), (0, 1));
        assert_eq!(places("acbd", "abcd"), (1, 1));
    }

    #[test]
    fn a_gap_stands_for_any_number_of_frames() {
        assert_eq!(places("ab_m", "abcdem"), (0, 0));
        assert_eq!(places("ab_m", "abm"), (0, 0));
        assert_eq!(places("ar_rm", "arrrrm"), (0, 0));
        assert_eq!(places("ab_Xm", "abcdem"), (1, 0));
        assert_eq!(places("ab_e_n", "abcdefgmn"), (0, 0));
        // A gap represents frames at its own position only, none elsewhere.
        assert_eq!(places("a_em", "abcdem"), (0, 0));
        assert_eq!(places("a_cm", "abcdem"), (0, 2));
        assert_eq!(places("b_m", "abcdem"), (0, 1));
    }

    #[test]
    fn functions_are_equal_where_addresses_in_them_differ() {
        let (chain, truth) = (frames("abCd"), frames("abcd"));
        let difference = |same| difference(&chain, &truth, same);
        assert_eq!(difference(Frame::same_location), Difference { alien: 1, missing: 1 });
        assert!(difference(Frame::same_function).is_none());
    }
}
