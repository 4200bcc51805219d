//! Comparison of two outputs: matches their samples, and relates their chains.

use std::collections::BTreeMap;

use super::chain::{Chains, Frame, Sample};
use super::names;
use super::oracle::{Oracle, Ruling};
use crate::strings::{StringId, StringTable};

/// Relation of our chain to the peer's; user frames only.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Verdict {
    /// The same frames.
    Equal,
    /// The peer's frames are the inner part of ours.
    Longer,
    /// Ours is shorter and ends at the end of the sample's stack bytes; the peer continues with frames of another
    /// sample. Known difference of hotspot. The comparison with perf shows whether our end is correct.
    Joined,
    /// Our frames are the inner part of the peer's.
    Shorter,
    /// The chains differ at some frame.
    Diverging,
}

impl Verdict {
    /// In table order.
    pub(super) const ALL: [Self; 5] =
        [Self::Equal, Self::Longer, Self::Joined, Self::Shorter, Self::Diverging];

    /// Returns the word for the table.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Longer => "longer",
            Self::Joined => "shorter, joined there",
            Self::Shorter => "shorter",
            Self::Diverging => "diverging",
        }
    }
}

/// Common properties of a group of samples.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Group {
    pub(super) verdict: Verdict,
    /// Proof from the binaries.
    pub(super) ruling: Ruling,
    /// Module of our first differing frame; of our last one if ours is shorter.
    pub(super) module: StringId,
    /// Found-by of that frame, or end reason of our chain.
    pub(super) reason: StringId,
}

/// Sums over all samples.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) matched: u64,
    pub(super) only_left: u64,
    pub(super) only_right: u64,
    pub(super) verdicts: BTreeMap<Verdict, u64>,
    /// Proofs from the binaries about the samples that are not equal.
    pub(super) rulings: BTreeMap<(Verdict, Ruling), u64>,
    /// Number of samples with kernel parts of different lengths.
    pub(super) kernel_differs: u64,
    pub(super) common_frames: u64,
    pub(super) both_named: u64,
    pub(super) same_name: u64,
    pub(super) only_left_named: u64,
    pub(super) only_right_named: u64,
    pub(super) other_names: BTreeMap<(StringId, StringId), u64>,
    pub(super) groups: BTreeMap<Group, Vec<(Sample, Sample)>>,
    /// Number of samples in each group; `groups` keeps only the first examples.
    pub(super) group_sizes: BTreeMap<Group, u64>,
    /// End reasons of our chains.
    pub(super) ends: BTreeMap<StringId, u64>,
}

/// Facts about names and about the peer.
pub(super) struct Naming<'a> {
    pub(super) words: &'a StringTable,
    /// Comparable form of each word.
    pub(super) forms: &'a [StringId],
    /// True if the peer completes truncated chains from other samples.
    pub(super) joins: bool,
}

impl Naming<'_> {
    fn same(&self, one: StringId, other: StringId) -> bool {
        let form = |word: StringId| self.forms.get(word as usize).copied().unwrap_or(word);
        let (one, other) = (form(one), form(other));
        one == other || names::same(self.words.text(one), self.words.text(other))
    }
}

/// Maximum number of examples per group.
const KEPT: usize = 50;

/// Compares two sorted outputs, up to `depth` frames per chain.
pub(super) fn compare(
    sides: [&Chains; 2],
    naming: &Naming<'_>,
    oracle: &mut Oracle<'_>,
    depth: usize,
) -> Tally {
    let [left, right] = sides;
    let mut tally = Tally::default();
    for sample in &left.samples {
        *tally.ends.entry(sample.end).or_default() += 1;
    }
    let (mut lefts, mut rights) = (left.samples.iter().peekable(), right.samples.iter().peekable());
    loop {
        let key = |sample: &Sample| (sample.time, sample.tid);
        match (lefts.peek(), rights.peek()) {
            (Some(a), Some(b)) if key(a) == key(b) => {
                let verdict = tally.pair(sides, (a, b), naming, depth);
                if verdict.1 != Verdict::Equal {
                    tally.differing(sides, (a, b), verdict, oracle, depth);
                }
                lefts.next();
                rights.next();
            }
            (Some(a), Some(b)) if key(a) < key(b) => {
                tally.only_left += 1;
                lefts.next();
            }
            (Some(_), None) => {
                tally.only_left += 1;
                lefts.next();
            }
            (_, Some(_)) => {
                tally.only_right += 1;
                rights.next();
            }
            (None, None) => break,
        }
    }
    tally
}

impl Tally {
    fn pair(
        &mut self,
        [left, right]: [&Chains; 2],
        (a, b): (&Sample, &Sample),
        naming: &Naming<'_>,
        depth: usize,
    ) -> (usize, Verdict) {
        self.matched += 1;
        self.kernel_differs += u64::from(a.n_kernel != b.n_kernel);
        let (ours, theirs) = (cut(left.user(a), a, depth), cut(right.user(b), b, depth));
        let common =
            ours.iter().zip(theirs).take_while(|(one, other)| one.same_location(other)).count();
        for (one, other) in ours.iter().zip(theirs).take(common) {
            self.names(one, other, naming);
        }
        let verdict = match (common == ours.len(), common == theirs.len()) {
            (true, true) => Verdict::Equal,
            (false, true) => Verdict::Longer,
            (true, false) if naming.joins && naming.words.text(a.end) == "stack-exhausted" => {
                Verdict::Joined
            }
            (true, false) => Verdict::Shorter,
            (false, false) => Verdict::Diverging,
        };
        *self.verdicts.entry(verdict).or_default() += 1;
        (common, verdict)
    }

    /// Counts an unequal sample in its group, with the proof from the binaries.
    fn differing(
        &mut self,
        [left, right]: [&Chains; 2],
        (a, b): (&Sample, &Sample),
        (common, verdict): (usize, Verdict),
        oracle: &mut Oracle<'_>,
        depth: usize,
    ) {
        let (ours, theirs) = (cut(left.user(a), a, depth), cut(right.user(b), b, depth));
        let ruling = oracle.rule(ours, theirs, common);
        *self.rulings.entry((verdict, ruling)).or_default() += 1;
        let at = ours.get(common).or_else(|| ours.last());
        let reason = if verdict == Verdict::Diverging {
            at.map_or(0, |frame| frame.found_by)
        } else {
            a.end
        };
        let group = Group { verdict, ruling, module: at.map_or(0, |frame| frame.module), reason };
        *self.group_sizes.entry(group).or_default() += 1;
        let examples = self.groups.entry(group).or_default();
        if examples.len() < KEPT {
            examples.push((*a, *b));
        }
    }

    fn names(&mut self, one: &Frame, other: &Frame, naming: &Naming<'_>) {
        self.common_frames += 1;
        match (one.symbol, other.symbol) {
            (0, 0) => {}
            (_, 0) => self.only_left_named += 1,
            (0, _) => self.only_right_named += 1,
            (a, b) => {
                self.both_named += 1;
                if naming.same(a, b) {
                    self.same_name += 1;
                } else {
                    *self.other_names.entry((a, b)).or_default() += 1;
                }
            }
        }
    }

    /// Returns the share of the matched samples that are equal or longer, or differ for a known reason, in percent.
    pub(super) fn agreeing(&self) -> f64 {
        self.percent(self.sum_agreeing())
    }

    /// Same as [`Self::agreeing`], plus samples with a peer that is proven wrong, minus longer samples with ours proven
    /// wrong.
    pub(super) fn good(&self) -> f64 {
        let ruled = |verdict, ruling| self.rulings.get(&(verdict, ruling)).copied().unwrap_or(0);
        let peer_wrong = ruled(Verdict::Shorter, Ruling::PeerWrong)
            + ruled(Verdict::Diverging, Ruling::PeerWrong);
        self.percent(self.sum_agreeing() + peer_wrong - ruled(Verdict::Longer, Ruling::OursWrong))
    }

    fn sum_agreeing(&self) -> u64 {
        let count = |verdict| self.verdicts.get(&verdict).copied().unwrap_or(0);
        count(Verdict::Equal) + count(Verdict::Longer) + count(Verdict::Joined)
    }

    fn percent(&self, count: u64) -> f64 {
        100.0 * count as f64 / self.matched.max(1) as f64
    }
}

/// Truncates the chain to the frames that a tool with a limit can show; the limit counts kernel frames as well.
fn cut<'a>(frames: &'a [Frame], sample: &Sample, depth: usize) -> &'a [Frame] {
    let limit = depth.saturating_sub(sample.n_kernel as usize);
    frames.get(..limit).unwrap_or(frames)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::chain::UNSTATED;
    use crate::compare::oracle::Evidence;

    fn chains(samples: &[(u64, &[u64])]) -> Chains {
        let mut chains = Chains::default();
        for &(time, addresses) in samples {
            chains.open(Sample {
                time,
                tid: 1,
                cpu: 0,
                event: 0,
                first: 0,
                n_user: 0,
                n_kernel: 0,
                end: 0,
            });
            for &address in addresses {
                let stated = [address, UNSTATED, UNSTATED, UNSTATED];
                chains.push(Frame { stated, module: 1, symbol: 0, found_by: 0 }, false);
            }
        }
        chains.close();
        chains
    }

    fn tally(ours: &Chains, theirs: &Chains, joins: bool, depth: usize) -> Tally {
        let mut words = StringTable::new();
        assert_eq!(words.intern("stack-exhausted"), 1);
        let naming = Naming { words: &words, forms: &[0, 1], joins };
        let build_ids = BTreeMap::new();
        let evidence =
            Evidence { words: &words, sysroot: None, build_ids: &build_ids, anonymous_code: None };
        compare([ours, theirs], &naming, &mut Oracle::new(evidence), depth)
    }

    fn counts(tally: &Tally) -> Vec<u64> {
        Verdict::ALL
            .iter()
            .map(|verdict| tally.verdicts.get(verdict).copied().unwrap_or(0))
            .collect()
    }

    #[test]
    fn every_relation_is_told_and_missing_samples_are_counted() {
        let ours =
            chains(&[(1, &[16, 32]), (2, &[16, 32, 48]), (3, &[16]), (4, &[16, 99]), (5, &[16])]);
        let theirs =
            chains(&[(1, &[16, 32]), (2, &[16, 32]), (3, &[16, 32]), (4, &[16, 32]), (6, &[16])]);
        let tally = tally(&ours, &theirs, false, 1024);
        assert_eq!(counts(&tally), [1, 1, 0, 1, 1]);
        assert_eq!((tally.matched, tally.only_left, tally.only_right), (4, 1, 1));
        assert_eq!((tally.agreeing(), tally.good()), (50.0, 50.0));
    }

    #[test]
    fn a_peer_that_joins_is_not_believed_behind_the_end_of_the_stack_bytes() {
        let mut ours = chains(&[(1, &[16]), (2, &[16])]);
        ours.samples[0].end = 1;
        let theirs = chains(&[(1, &[16, 32]), (2, &[16, 32])]);
        assert_eq!(counts(&tally(&ours, &theirs, true, 1024)), [0, 0, 1, 1, 0]);
        assert_eq!(counts(&tally(&ours, &theirs, false, 1024)), [0, 0, 0, 2, 0]);
    }

    #[test]
    fn chains_are_compared_up_to_the_limit() {
        let (ours, theirs) = (chains(&[(1, &[0x10, 0x20, 0x30])]), chains(&[(1, &[0x10, 0x20])]));
        assert_eq!(counts(&tally(&ours, &theirs, false, 2)), [1, 0, 0, 0, 0]);
    }
}
