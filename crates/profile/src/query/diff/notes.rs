//! Caveats of a comparison: differences between the recordings, and omitted data.

use super::compared::NotCompared;
use super::confidence::{Confidence, DiffMethod};
use super::modules::{DiffModule, DiffModuleId, PairedBy};
use super::normalize::{AS_BUSY, Normalization, apart, total};
use super::run::DiffRun;
use super::{Diff, DiffFunction, DiffRuns};
use crate::tables::Table;

/// A caveat.
#[derive(Debug, Clone, PartialEq)]
pub enum DiffNote {
    /// Shares of stacks without their root that differ by more than 3 percentage points. Inclusive costs of outer
    /// functions are too low for the larger share.
    TruncatedShares([f64; 2]),
    /// Shares of samples lost in the kernel; at least one is a hundredth or more.
    Lost([f64; 2]),
    /// Numbers of omitted samples of other events.
    OtherEvents([u64; 2]),
    /// Modules with different builds.
    FilesDiffer(Vec<DiffModuleId>),
    /// Modules compared without inlined functions, because only one side has inline information.
    WithoutInlines(Vec<DiffModuleId>),
    /// Modules that are paired although their names differ.
    Paired(Vec<DiffModuleId>),
    /// Modules with at least a hundredth of the samples before or after, but without a partner.
    OneSided(Vec<DiffModuleId>),
    /// Modules with at least a hundredth of the samples in functions that have no name on the other side.
    Unnamed(Vec<DiffModuleId>),
    /// By time: costs per second that differ in total, so that all functions change.
    OtherLoad([f64; 2]),
    /// By time: durations in seconds that differ at equal load.
    OtherLength([f64; 2]),
    /// Several recordings, but fewer than three before or after: no change can be marked.
    FewRuns,
}

impl DiffNote {
    /// Keyword in output formats.
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

/// Maximum difference of the shares of truncated stacks.
const POINTS: f64 = 0.03;

/// Minimum relative size of a difference, module or loss for a note.
const NOTICED: f64 = 0.01;

/// Returns the notes on a comparison.
pub(super) fn notes(diff: &Diff, confidence: &Confidence) -> Vec<DiffNote> {
    let sides = [&diff.before, &diff.after];
    let mut notes = Vec::new();
    let truncated = sides.map(DiffRuns::truncated_share);
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

fn sum(side: &DiffRuns, of: impl Fn(&DiffRun) -> u64) -> u64 {
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
    let differ = those(&|_, row| row.same_build == Some(false));
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

/// Returns, by module, the share of samples in its functions of one kind, before and after.
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

/// Returns a note if costs per second reflect the load of the host or the length of the work instead of the program.
fn level(diff: &Diff) -> Option<DiffNote> {
    if diff.normalization != Normalization::Time {
        return None;
    }
    let busy = [diff.total.before.value, diff.total.after.value];
    if apart(busy) > AS_BUSY {
        return Some(DiffNote::OtherLoad(busy));
    }
    let lengths = [&diff.before, &diff.after].map(DiffRuns::mean_seconds);
    (apart(lengths) > NOTICED).then_some(DiffNote::OtherLength(lengths))
}
