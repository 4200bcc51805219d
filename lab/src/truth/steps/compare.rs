//! Comparison of a chain of ours with the true one.

use super::shadow::TrueFrame;
use crate::truth::stepped::{Chain, Frame, Kind};

/// Verdict on a chain of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// It claims the root, and equals the true one, jumps included.
    Exact,
    /// It claims the root, and equals the true one, with marks in place of some frames.
    Marked,
    /// It claims the root, and equals the true one except for jumps after calls without a stated target.
    Unstated,
    /// It claims the root, and equals the true one except for some unmarked jumps.
    Lacking,
    /// It claims the root, and differs from the true one.
    Wrong,
    /// It ends early, and has the inner frames of the true one.
    Early,
    /// It ends early, and lacks jumps of the true one that it does not mark.
    EarlyLacking,
    /// It ends early, with a frame that the true one does not have.
    EarlyWrong,
}

/// Compares a chain with the true one.
pub(super) fn verdict(ours: &Chain, truth: &[TrueFrame]) -> Verdict {
    let whole = ours.claims_root();
    let marked = ours.frames.iter().any(|frame| matches!(frame.kind, Kind::Tails | Kind::Gap));
    if agrees(&ours.frames, truth, whole) {
        return match (whole, marked) {
            (true, false) => Verdict::Exact,
            (true, true) => Verdict::Marked,
            (false, _) => Verdict::Early,
        };
    }
    let agrees_without = |is_optional: fn(&TrueFrame) -> bool| {
        let optional = |frame: &TrueFrame| frame.optional || is_optional(frame);
        let frames: Vec<TrueFrame> =
            truth.iter().map(|frame| TrueFrame { optional: optional(frame), ..*frame }).collect();
        agrees(&ours.frames, &frames, whole)
    };
    if whole && agrees_without(|frame| frame.indirect) {
        return Verdict::Unstated;
    }
    match (whole, agrees_without(|frame| frame.tail)) {
        (true, true) => Verdict::Lacking,
        (true, false) => Verdict::Wrong,
        (false, true) => Verdict::EarlyLacking,
        (false, false) => Verdict::EarlyWrong,
    }
}

/// Returns true if the frames are those of the truth, up to its end or to some frame. Optional ones may be missing.
fn agrees(ours: &[Frame], truth: &[TrueFrame], to_the_end: bool) -> bool {
    // Numbers of frames of the truth that our frames so far can match.
    let mut behind = vec![false; truth.len() + 1];
    behind[0] = true;
    skip(&mut behind, truth, |frame| frame.optional);
    for (at, frame) in ours.iter().enumerate() {
        let mut next = vec![false; truth.len() + 1];
        match frame.kind {
            Kind::Plain | Kind::Tail => {
                for (number, one) in truth.iter().enumerate() {
                    next[number + 1] = behind[number] && is_same(frame, one, at == 0);
                }
            }
            Kind::Tails => {
                next.clone_from(&behind);
                skip(&mut next, truth, |frame| frame.tail);
            }
            Kind::Gap => {
                next.clone_from(&behind);
                skip(&mut next, truth, |_| true);
            }
        }
        skip(&mut next, truth, |frame| frame.optional);
        behind = next;
    }
    if to_the_end { behind[truth.len()] } else { behind.contains(&true) }
}

/// Extends the matches past frames that may be skipped.
fn skip(behind: &mut [bool], truth: &[TrueFrame], is_skipped: impl Fn(&TrueFrame) -> bool) {
    for (number, frame) in truth.iter().enumerate() {
        behind[number + 1] |= behind[number] && is_skipped(frame);
    }
}

/// Returns true if both frames are the same. A return address is looked up one byte before it. If several jumps of a
/// function reach the target, ours has the function's first address.
fn is_same(ours: &Frame, truth: &TrueFrame, innermost: bool) -> bool {
    match (ours.kind == Kind::Tail, truth.tail) {
        (true, true) => ours.addr == truth.addr || ours.addr == truth.start,
        (false, false) => ours.addr + u64::from(!innermost) == truth.addr,
        _ => false,
    }
}

/// Returns the index of our first frame at which the chains differ, for the explanation.
pub(super) fn first_difference(ours: &Chain, truth: &[TrueFrame]) -> usize {
    let agreed = |number: &usize| agrees(&ours.frames[..*number], truth, false);
    (0..=ours.frames.len()).take_while(agreed).last().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a` is a frame at an address, `A` one left by a jump.
    fn truth(letters: &str) -> Vec<TrueFrame> {
        let frame = |(at, letter): (usize, char)| {
            let tail = letter.is_ascii_uppercase();
            let addr = u64::from(u32::from(letter)) * 16 + u64::from(!tail && at > 0);
            let (optional, indirect) = (letter == 'T', letter == 'R');
            TrueFrame { addr, tail, start: addr & !15, optional, indirect }
        };
        letters.chars().enumerate().map(frame).collect()
    }

    /// Same, with `*` for unknown jumps and `_` for any frames.
    fn ours(letters: &str, end: &str) -> Chain {
        let frame = |letter: char| Frame {
            addr: u64::from(u32::from(letter)) * 16,
            kind: match letter {
                '*' => Kind::Tails,
                '_' => Kind::Gap,
                'A'..='Z' => Kind::Tail,
                _ => Kind::Plain,
            },
            name: String::new(),
        };
        Chain { end: end.to_owned(), frames: letters.chars().map(frame).collect() }
    }

    #[test]
    fn chains_that_claim_the_root() {
        let of = |one: &str, other: &str| verdict(&ours(one, "root"), &truth(other));
        assert_eq!(of("aXYb", "aXYb"), Verdict::Exact);
        assert_eq!(of("aXb", "aTXb"), Verdict::Exact);
        assert_eq!(of("aX*b", "aXYZb"), Verdict::Marked);
        assert_eq!(of("a*b", "ab"), Verdict::Marked);
        assert_eq!(of("a_d", "aXbcd"), Verdict::Marked);
        assert_eq!(of("ab", "aXb"), Verdict::Lacking);
        assert_eq!(of("aXb", "aXRb"), Verdict::Unstated);
        assert_eq!(of("ab", "aXRb"), Verdict::Lacking);
        assert_eq!(of("aXb", "ab"), Verdict::Wrong);
        assert_eq!(of("aYXb", "aXYb"), Verdict::Wrong);
        assert_eq!(of("a*c", "abc"), Verdict::Wrong);
        assert_eq!(of("ab", "abc"), Verdict::Wrong);
    }

    #[test]
    fn chains_that_end_early() {
        let of = |one: &str, other: &str| verdict(&ours(one, "stack-exhausted"), &truth(other));
        assert_eq!(of("ab", "abXc"), Verdict::Early);
        assert_eq!(of("ab", "aXbc"), Verdict::EarlyLacking);
        assert_eq!(of("ad", "abc"), Verdict::EarlyWrong);
        assert_eq!(first_difference(&ours("abd", "root"), &truth("abc")), 2);
    }
}
