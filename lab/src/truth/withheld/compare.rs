//! Comparison of a chain without call frame information with the one with it.

use std::collections::BTreeMap;

use crate::strings::StringTable;
use crate::truth::alignment::difference;
use crate::truth::chains::{Chain, Frame};

const ROOT: &str = "root";
const ROOT_ACROSS_GAP: &str = "root-across-gap";

/// Result of a chain that reaches its root with call frame information.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// It is equal.
    Again,
    /// It reaches the root, with gaps in place of some frames.
    AcrossGap,
    /// It ends early, and has the inner frames of the truth.
    Early,
    /// It claims the root, and differs from the truth.
    Wrong,
    /// It ends early, with a frame that the truth does not have.
    EarlyWrong,
}

/// Counts over the samples of a recording.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Chains of the truth.
    pub(super) chains: u64,
    verdicts: BTreeMap<Verdict, u64>,
    /// Ends of chains that end early, and first differences: their number, and the first sample.
    pub(super) kinds: BTreeMap<String, (u64, String)>,
    samples: u64,
}

impl Tally {
    /// Adds a sample.
    pub(super) fn add(&mut self, truth: &Chain<'_>, found: &Chain<'_>, words: &StringTable) {
        let number = self.samples;
        self.samples += 1;
        if truth.end != ROOT || truth.joined || truth.frames.iter().any(|frame| frame.gap) {
            return;
        }
        self.chains += 1;
        let verdict = verdict(truth.frames, found);
        *self.verdicts.entry(verdict).or_default() += 1;
        let (kind, place) = match verdict {
            Verdict::Again | Verdict::AcrossGap => return,
            Verdict::Early => {
                let last = found.frames.last().map_or_else(String::new, |last| name(last, words));
                (format!("ends {} at {last}", found.end), String::new())
            }
            Verdict::Wrong | Verdict::EarlyWrong => first_difference(truth, found, words),
        };
        let example = || (0, format!("sample {number}{place}"));
        self.kinds.entry(kind).or_insert_with(example).0 += 1;
    }

    /// Returns the number of chains with a verdict.
    pub(super) fn count(&self, verdict: Verdict) -> u64 {
        self.verdicts.get(&verdict).copied().unwrap_or_default()
    }

    /// Returns true if a chain has another frame than the truth, or claims a root although the truth continues.
    pub(super) fn is_wrong(&self) -> bool {
        self.count(Verdict::Wrong) + self.count(Verdict::EarlyWrong) > 0
    }
}

fn verdict(truth: &[Frame], found: &Chain<'_>) -> Verdict {
    let claims_root = matches!(found.end, ROOT | ROOT_ACROSS_GAP);
    let mut frames = found.frames.to_vec();
    let has_gap = frames.iter().any(|frame| frame.gap);
    if !claims_root {
        // Represents the missing frames at its end.
        frames.push(Frame { gap: true, ..Frame::default() });
    }
    let agrees = difference(&frames, truth, Frame::same_location).is_none();
    match (claims_root, agrees) {
        (true, true) if has_gap => Verdict::AcrossGap,
        (true, true) => Verdict::Again,
        (false, true) => Verdict::Early,
        (true, false) => Verdict::Wrong,
        (false, false) => Verdict::EarlyWrong,
    }
}

/// Returns the first differing frames: by their functions, which form the kind, and by their addresses.
fn first_difference(truth: &Chain<'_>, found: &Chain<'_>, words: &StringTable) -> (String, String) {
    let pairs = found.frames.iter().zip(truth.frames);
    let at = pairs.take_while(|(found, truth)| found.same_location(truth)).count();
    let shown = |frames: &[Frame], end: &str| match frames.get(at) {
        Some(frame) => (name(frame, words), format!("{:#x}", frame.addr)),
        None => (format!("the end ({end})"), "nothing".to_owned()),
    };
    let inner = at.checked_sub(1).and_then(|at| found.frames.get(at));
    let inner = inner.map_or_else(|| "nothing".to_owned(), |frame| name(frame, words));
    let (ours, our_place) = shown(found.frames, found.end);
    let (theirs, their_place) = shown(truth.frames, truth.end);
    (
        format!("wrong, ends {}: after {inner} comes {ours}, truth: {theirs}", found.end),
        format!(", frame {at}: {our_place}, truth: {their_place}"),
    )
}

/// Returns the name of a frame's function after that of its module.
fn name(frame: &Frame, words: &StringTable) -> String {
    let module = words.text(frame.module).rsplit('/').next().unwrap_or_default();
    format!("{module}:{}", words.text(frame.function))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truth::chains::lettered;

    fn of(truth: &str, found: &str, end: &str) -> Verdict {
        let frames = lettered(found);
        verdict(&lettered(truth), &Chain { end, joined: false, frames: &frames })
    }

    #[test]
    fn chains_that_claim_the_root() {
        assert_eq!(of("abcm", "abcm", "root"), Verdict::Again);
        assert_eq!(of("abcm", "a_m", "root-across-gap"), Verdict::AcrossGap);
        assert_eq!(of("abcm", "abc", "root"), Verdict::Wrong);
        assert_eq!(of("abcm", "abm", "root"), Verdict::Wrong);
        assert_eq!(of("abcm", "abcmz", "root"), Verdict::Wrong);
        assert_eq!(of("abcm", "a_", "root-across-gap"), Verdict::AcrossGap);
        assert_eq!(of("abcm", "a_zm", "root-across-gap"), Verdict::Wrong);
    }

    #[test]
    fn chains_that_end_early() {
        for end in ["no-unwind-info", "unproven-root"] {
            assert_eq!(of("abcm", "ab", end), Verdict::Early);
            assert_eq!(of("abcm", "abcm", end), Verdict::Early);
            assert_eq!(of("abcm", "a_c", end), Verdict::Early);
            assert_eq!(of("abcm", "ac", end), Verdict::EarlyWrong);
            assert_eq!(of("abcm", "abz", end), Verdict::EarlyWrong);
        }
    }

    #[test]
    fn only_whole_chains_of_the_truth_count() {
        let words = StringTable::new();
        let (whole, gap) = (lettered("abm"), lettered("a_m"));
        let mut tally = Tally::default();
        for (end, frames) in
            [("root", &whole), ("root", &gap), ("root-across-gap", &whole), ("no-module", &whole)]
        {
            let truth = Chain { end, joined: false, frames };
            let found = Chain { end: "root", joined: false, frames: &whole[..2] };
            tally.add(&truth, &found, &words);
        }
        assert_eq!((tally.chains, tally.count(Verdict::Wrong), tally.is_wrong()), (1, 1, true));
        let kind = "wrong, ends root: after : comes the end (root), truth: :";
        let example = "sample 0, frame 2: nothing, truth: 0x6d";
        assert_eq!(tally.kinds, BTreeMap::from([(kind.to_owned(), (1, example.to_owned()))]));
    }
}
