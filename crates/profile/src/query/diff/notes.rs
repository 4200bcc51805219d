//! What to keep in mind of a comparison: where its sides are not alike, and what was left out.

use super::compared::NotCompared;
use super::confidence::{Confidence, DiffMethod};
use super::modules::{DiffModule, DiffModuleId, PairedBy};
use super::normalize::{AS_BUSY, Normalization, apart, total};
use super::run::DiffRun;
use super::{Diff, DiffFunction, DiffSide};
use crate::tables::Table;

/// A thing to keep in mind.
#[derive(Debug, Clone, PartialEq)]
pub enum DiffNote {
    /// The shares of stacks that do not reach their root are more than 3 points apart: inclusive costs of outer functions
    /// are too low on the side that has more of them.
    TruncatedShares([f64; 2]),
    /// The kernel lost so large a share of the samples of a side, a hundredth or more.
    Lost([f64; 2]),
    /// So many samples of other events are left out.
    OtherEvents([u64; 2]),
    /// Modules whose build is another after.
    FilesDiffer(Vec<DiffModuleId>),
    /// Modules whose inlined functions are left out, since only one side knows them.
    WithoutInlines(Vec<DiffModuleId>),
    /// Modules that are paired though their names differ.
    Paired(Vec<DiffModuleId>),
    /// Modules with a hundredth or more of the samples of one side, and no partner on the other one.
    OneSided(Vec<DiffModuleId>),
    /// Modules with a hundredth or more of the samples of one side in functions that have no name on the other one.
    Unnamed(Vec<DiffModuleId>),
    /// By time: the total is another, so that everything changes with it.
    OtherLoad([f64; 2]),
    /// By time: the sides were as busy for so many seconds, which differ.
    OtherLength([f64; 2]),
    /// Several recordings on a side, but fewer than three on one of them: no change can be marked.
    FewRuns,
}

impl DiffNote {
    /// The word in output formats.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::TruncatedShares(_) => "truncated-shares",
            Self::Lost(_) => "lost",
            Self::OtherEvents(_) => "other-events",
            Self::FilesDiffer(_) => "files-differ",
            Self::WithoutInlines(_) => "without-inlines",
            Self::Paired(_) => "paired",
            Self::OneSided(_) => "one-sided",
            Self::Unnamed(_) => "unnamed",
            Self::OtherLoad(_) => "other-load",
            Self::OtherLength(_) => "other-length",
            Self::FewRuns => "few-runs",
        }
    }
}

/// How far the shares of truncated stacks may be apart.
const POINTS: f64 = 0.03;

/// What is noticed of a total, of a module, of what was lost.
const NOTICED: f64 = 0.01;

/// What there is to keep in mind.
pub(super) fn notes(diff: &Diff, confidence: &Confidence) -> Vec<DiffNote> {
    let sides = [&diff.before, &diff.after];
    let mut notes = Vec::new();
    let truncated = sides.map(DiffSide::truncated_share);
    notes.extend(far_apart(truncated, POINTS).map(DiffNote::TruncatedShares));
    let lost = sides.map(|side| {
        let lost = sum(side, |run| run.lost) as f64;
        lost / (lost + total(&side.runs).samples as f64).max(1.0)
    });
    notes.extend(lost.iter().any(|&share| share >= NOTICED).then_some(DiffNote::Lost(lost)));
    let others = sides.map(|side| sum(side, |run| run.other_events));
    notes.extend((others != [0, 0]).then_some(DiffNote::OtherEvents(others)));
    modules(diff, &mut notes);
    notes.extend(level(diff));
    notes.extend((confidence.method == DiffMethod::Unknown).then_some(DiffNote::FewRuns));
    notes
}

fn sum(side: &DiffSide, of: impl Fn(&DiffRun) -> u64) -> u64 {
    side.runs.iter().map(of).fold(0, u64::saturating_add)
}

fn far_apart(values: [f64; 2], limit: f64) -> Option<[f64; 2]> {
    let [before, after] = values;
    ((after - before).abs() > limit).then_some(values)
}

fn modules(diff: &Diff, notes: &mut Vec<DiffNote>) {
    let those = |is: &dyn Fn(DiffModuleId, &DiffModule) -> bool| {
        let rows = diff.modules.entries().filter(|&(id, row)| is(id, row));
        let ids: Vec<DiffModuleId> = rows.map(|(id, _)| id).collect();
        (!ids.is_empty()).then_some(ids)
    };
    let shares = own_shares(diff, |_| true);
    let is_seen = |id: DiffModuleId| {
        shares.get(id).is_some_and(|shares| shares.iter().any(|&share| share >= NOTICED))
    };
    let differ = those(&|_, row| row.same_file == Some(false));
    notes.extend(differ.map(DiffNote::FilesDiffer));
    let without = those(&|_, row| row.without_inlines);
    notes.extend(without.map(DiffNote::WithoutInlines));
    let paired = those(&|_, row| !matches!(row.paired, None | Some(PairedBy::Name)));
    notes.extend(paired.map(DiffNote::Paired));
    let one_sided = those(&|id, row| row.paired.is_none() && is_seen(id));
    notes.extend(one_sided.map(DiffNote::OneSided));
    let unnamed = own_shares(diff, |row| row.not_compared == Some(NotCompared::NoName));
    let is_unnamed = |id: DiffModuleId| {
        unnamed.get(id).is_some_and(|shares| shares.iter().any(|&share| share >= NOTICED))
    };
    notes.extend(those(&|id, _| is_unnamed(id)).map(DiffNote::Unnamed));
}

/// By module: which part of the samples of each side its functions of a kind have themselves.
fn own_shares(
    diff: &Diff,
    is_wanted: impl Fn(&DiffFunction) -> bool,
) -> Table<DiffModuleId, [f64; 2]> {
    let mut shares = Table::from_vec(vec![[0.0; 2]; diff.modules.len()]);
    let totals = [&diff.before, &diff.after].map(|side| total(&side.runs).samples.max(1) as f64);
    for function in diff.functions.iter().filter(|row| is_wanted(row)) {
        let sides = [function.own.before, function.own.after];
        if let Some(sums) = function.module.and_then(|module| shares.get_mut(module)) {
            for ((sum, side), total) in sums.iter_mut().zip(sides).zip(totals) {
                *sum += side.samples as f64 / total;
            }
        }
    }
    shares
}

/// Whether costs per second say something about the machine or the length of the work instead of the program.
fn level(diff: &Diff) -> Option<DiffNote> {
    if diff.normalization != Normalization::Time {
        return None;
    }
    let busy = [diff.total.before.value, diff.total.after.value];
    if apart(busy) > AS_BUSY {
        return Some(DiffNote::OtherLoad(busy));
    }
    let lengths = [&diff.before, &diff.after].map(DiffSide::mean_seconds);
    (apart(lengths) > NOTICED).then_some(DiffNote::OtherLength(lengths))
}
