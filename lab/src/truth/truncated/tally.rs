//! Results of truncated chains: each is compared with the true one, and counted.

use std::collections::BTreeMap;

use crate::truth::alignment::{Difference, difference};
use crate::truth::chains::{Chain, Frame};

const ROOT: &str = "root";
const ROOT_ACROSS_GAP: &str = "root-across-gap";

/// Result of one chain that is complete in the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Its own stack still reaches the root.
    Whole { equal: bool },
    /// Frames of other samples reach the root.
    Repaired { across_gap: bool, places: Difference, functions: Difference },
    /// It does not reach the root.
    StaysCut { prefix: bool },
}

/// Numbers of repaired chains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Repaired {
    pub(super) chains: u64,
    /// Chains with exactly the frames of the truth.
    pub(super) exact: u64,
    /// Same, compared by functions.
    pub(super) exact_in_functions: u64,
    /// Chains with a frame that the truth does not have.
    pub(super) alien: u64,
    /// Chains with a function that the truth does not have.
    pub(super) alien_function: u64,
    /// Chains without a frame of the truth, and without a gap in its position.
    pub(super) missing: u64,
}

/// Numbers of chains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) samples: u64,
    /// Complete in the truth; only these count below.
    pub(super) whole: u64,
    /// Incomplete by their own stack.
    pub(super) cut: u64,
    pub(super) to_root: Repaired,
    pub(super) across_gap: Repaired,
    pub(super) stay_cut: u64,
    /// Number of chains that stay truncated and are not the inner part of the true one.
    pub(super) wrong_prefix: u64,
    /// Complete in the copy, but different from the true one.
    pub(super) whole_but_other: u64,
    /// End reasons of chains that stay truncated.
    pub(super) ends: BTreeMap<String, u64>,
    /// End reasons of incomplete chains of the truth.
    pub(super) ends_of_truth: BTreeMap<String, u64>,
}

impl Tally {
    /// Returns the number of chains with an alien frame, or without one of the truth's frames, that have no gap.
    pub(super) fn wrong_without_gap(&self) -> u64 {
        self.wrong_prefix + self.whole_but_other + self.to_root.chains - self.to_root.exact
    }

    /// Counts one sample: the chain of its full stack and that of the truncated one.
    pub(super) fn add(&mut self, truth: &Chain<'_>, copy: &Chain<'_>) {
        self.samples += 1;
        if !is_whole(truth) {
            *self.ends_of_truth.entry(truth.end.to_owned()).or_default() += 1;
            return;
        }
        self.whole += 1;
        let verdict = judge(truth, copy);
        self.cut += u64::from(!matches!(verdict, Verdict::Whole { .. }));
        match verdict {
            Verdict::Whole { equal } => self.whole_but_other += u64::from(!equal),
            Verdict::Repaired { across_gap, places, functions } => {
                let of = if across_gap { &mut self.across_gap } else { &mut self.to_root };
                of.chains += 1;
                of.exact += u64::from(places.is_none());
                of.exact_in_functions += u64::from(functions.is_none());
                of.alien += u64::from(places.alien > 0);
                of.alien_function += u64::from(functions.alien > 0);
                of.missing += u64::from(places.missing > 0);
            }
            Verdict::StaysCut { prefix } => {
                self.stay_cut += 1;
                self.wrong_prefix += u64::from(!prefix);
                *self.ends.entry(copy.end.to_owned()).or_default() += 1;
            }
        }
    }
}

/// Returns true if the sample's own stack reaches the root.
fn is_whole(chain: &Chain<'_>) -> bool {
    chain.end == ROOT && !chain.joined && !chain.frames.iter().any(|frame| frame.gap)
}

fn judge(truth: &Chain<'_>, copy: &Chain<'_>) -> Verdict {
    if is_whole(copy) {
        let equal = copy.frames.len() == truth.frames.len() && is_prefix(copy, truth);
        return Verdict::Whole { equal };
    }
    let across_gap = copy.end == ROOT_ACROSS_GAP;
    if !across_gap && copy.end != ROOT {
        return Verdict::StaysCut { prefix: is_prefix(copy, truth) };
    }
    Verdict::Repaired {
        across_gap,
        places: difference(copy.frames, truth.frames, Frame::same_location),
        functions: difference(copy.frames, truth.frames, Frame::same_function),
    }
}

fn is_prefix(copy: &Chain<'_>, truth: &Chain<'_>) -> bool {
    let inner = truth.frames.get(..copy.frames.len());
    inner.is_some_and(|inner| {
        copy.frames.iter().zip(inner).all(|(ours, theirs)| ours.same_location(theirs))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truth::chains::lettered as frames;

    /// Returns the counts for copies of one true chain, each with its end reason and true if a part is joined.
    fn tally(truth: &str, copies: &[(&str, &str, bool)]) -> Tally {
        let truth = frames(truth);
        let truth = Chain { end: "root", joined: false, frames: &truth };
        let mut tally = Tally::default();
        for &(letters, end, joined) in copies {
            tally.add(&truth, &Chain { end, joined, frames: &frames(letters) });
        }
        tally
    }

    #[test]
    fn chains_that_are_whole() {
        let copies = [("abcm", "root", false), ("abXm", "root", false), ("abc", "root", false)];
        let expected = Tally { samples: 3, whole: 3, whole_but_other: 2, ..Tally::default() };
        assert_eq!(tally("abcm", &copies), expected);
    }

    #[test]
    fn chains_that_stay_cut() {
        let copies = [
            ("ab", "stack-exhausted", false),
            ("a", "stack-exhausted", true),
            ("", "no-user-stack", false),
            ("aX", "no-module", false),
            ("abcmm", "max-frames", false),
        ];
        let ends =
            [("stack-exhausted", 2), ("no-user-stack", 1), ("no-module", 1), ("max-frames", 1)];
        let expected = Tally {
            samples: 5,
            whole: 5,
            cut: 5,
            stay_cut: 5,
            wrong_prefix: 2,
            ends: ends.map(|(end, count)| (end.to_owned(), count)).into(),
            ..Tally::default()
        };
        assert_eq!(tally("abcm", &copies), expected);
    }

    #[test]
    fn chains_that_are_repaired() {
        let copies = [
            ("abcm", "root", true),
            ("abCm", "root", true),
            ("abxm", "root", true),
            ("abm", "root", true),
            ("a_m", "root-across-gap", true),
            ("a_Cm", "root-across-gap", true),
            ("a_xm", "root-across-gap", true),
        ];
        let expected = Tally {
            samples: 7,
            whole: 7,
            cut: 7,
            to_root: Repaired {
                chains: 4,
                exact: 1,
                exact_in_functions: 2,
                alien: 2,
                alien_function: 1,
                missing: 3,
            },
            across_gap: Repaired {
                chains: 3,
                exact: 1,
                exact_in_functions: 2,
                alien: 2,
                alien_function: 1,
                missing: 0,
            },
            ..Tally::default()
        };
        let found = tally("abcm", &copies);
        assert_eq!((&found, found.wrong_without_gap()), (&expected, 3));
    }

    #[test]
    fn what_is_not_whole_in_the_truth_is_not_judged() {
        let (truth, copy) = (frames("abc"), frames("a"));
        let copy = Chain { end: "stack-exhausted", joined: false, frames: &copy };
        let mut tally = Tally::default();
        let ends = [("stack-exhausted", false), ("root", true), ("root-across-gap", true)];
        for (end, joined) in ends {
            tally.add(&Chain { end, joined, frames: &truth }, &copy);
        }
        let ends_of_truth = ends.map(|(end, _)| (end.to_owned(), 1)).into();
        assert_eq!(tally, Tally { samples: 3, ends_of_truth, ..Tally::default() });
    }
}
