//! Divisors of costs, and the choice of one if the user requests none.

use std::fmt;

use super::error::DiffError;
use super::run::{DiffRun, RunKind};
use super::weight::DiffWeight;

/// Divisor of the costs of a recording.
pub use options::Normalization;

/// Reason that shares are compared by default, because costs per second would mislead.
#[derive(Debug, Clone, PartialEq)]
pub enum NotByTime {
    /// The samples of a recording have no times, or all the same.
    NoTimes,
    /// The recorder started the programs, and their total costs per second before and after differ.
    /// Other load on a host reduces a program's CPU time per second.
    Load([f64; 2]),
    /// The event was sampled at different rates: two of them, each with true for a frequency.
    Rates([(bool, u64); 2]),
    /// Mean number of threads with samples in a recording before and after.
    ThreadCounts([f64; 2]),
    /// Name of threads with at least a hundredth of the cost before or after that are missing in the other recordings.
    ThreadName(Vec<u8>),
}

impl fmt::Display for NotByTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = |(frequency, rate): (bool, u64)| {
            if frequency { format!("{rate} Hz") } else { format!("every {rate}") }
        };
        match self {
            Self::NoTimes => f.write_str("samples have no times"),
            Self::Load([before, after]) => {
                write!(
                    f,
                    "their cost per second is ×{:.2} after, as on a machine with another load",
                    after / before
                )
            }
            Self::Rates([one, other]) => {
                write!(f, "sampled at different rates, {} and {}", rate(*one), rate(*other))
            }
            Self::ThreadCounts([before, after]) => {
                write!(f, "different numbers of threads, {before:.0} and {after:.0}")
            }
            Self::ThreadName(name) => {
                write!(f, "threads named {} on one side only", String::from_utf8_lossy(name))
            }
        }
    }
}

/// Maximum relative difference of similar numbers of threads.
const THREADS_APART: f64 = 0.1;

/// Threads with less than this part of the cost appear and disappear by chance.
const RARE: u64 = 100;

/// Recordings before and after, with the kind of each.
pub(super) type ComparedRuns<'a> = [(&'a [DiffRun], &'a [RunKind]); 2];

/// Returns the reason not to compare by time; `None` if event, rate and threads are similar.
pub(super) fn not_by_time(sides: &ComparedRuns<'_>) -> Option<NotByTime> {
    let runs = || sides.iter().flat_map(|(runs, _)| runs.iter());
    if runs().any(|run| run.seconds.is_none()) {
        return Some(NotByTime::NoTimes);
    }
    let mut rates = sides.iter().flat_map(|(_, kinds)| kinds.iter()).map(|kind| kind.rate);
    let first = rates.next()?;
    if let Some(other) = rates.find(|&rate| rate != first) {
        return Some(NotByTime::Rates([first, other]));
    }
    let counts = sides.map(|(runs, _)| {
        runs.iter().map(|run| run.threads as f64).sum::<f64>() / runs.len().max(1) as f64
    });
    if apart(counts) > THREADS_APART {
        return Some(NotByTime::ThreadCounts(counts));
    }
    missing_thread(sides).map(NotByTime::ThreadName).or_else(|| other_load(sides))
}

/// Maximum relative difference of the costs per second under equal load.
pub(super) const AS_BUSY: f64 = 0.02;

/// Returns the costs per second if they differ although the recorder started all programs.
fn other_load(sides: &ComparedRuns<'_>) -> Option<NotByTime> {
    if !sides.iter().flat_map(|(_, kinds)| kinds.iter()).all(|kind| kind.is_started) {
        return None;
    }
    let load = |run: &DiffRun| run.total.cost as f64 / run.seconds.unwrap_or(f64::INFINITY);
    let loads =
        sides.map(|(runs, _)| runs.iter().map(load).sum::<f64>() / runs.len().max(1) as f64);
    (apart(loads) > AS_BUSY).then_some(NotByTime::Load(loads))
}

/// Returns the difference of two values relative to the larger one.
pub(super) fn apart([one, other]: [f64; 2]) -> f64 {
    (other - one).abs() / one.max(other)
}

/// Returns the name of threads that exist only before or only after; of several, the first in alphabetical order.
fn missing_thread(sides: &ComparedRuns<'_>) -> Option<Vec<u8>> {
    let cost_of = |name: &[u8], kinds: &[RunKind]| {
        kinds
            .iter()
            .filter_map(|kind| kind.threads.get(name))
            .fold(0_u64, |sum, cost| sum.saturating_add(*cost))
    };
    let [(_, before), (_, after)] = *sides;
    let mut missing: Option<&[u8]> = None;
    for (here, there, runs) in [(before, after, sides[0].0), (after, before, sides[1].0)] {
        let total = total(runs).cost;
        for name in here.iter().flat_map(|kind| kind.threads.keys()) {
            let is_rare = cost_of(name, here).saturating_mul(RARE) < total;
            if !is_rare && !there.iter().any(|kind| kind.threads.contains_key(name)) {
                missing = Some(missing.map_or(name, |known| known.min(name)));
            }
        }
    }
    missing.map(<[u8]>::to_vec)
}

/// Returns the total weight of recordings.
pub(super) fn total(runs: &[DiffRun]) -> DiffWeight {
    runs.iter().map(|run| run.total).sum()
}

/// Returns, by recording, the factor of its costs. `is_after`: whether these are the recordings after.
pub(super) fn factors(
    normalization: Normalization,
    runs: &[DiffRun],
    is_after: bool,
) -> Result<Vec<f64>, DiffError> {
    let divisor = |run: &DiffRun| match normalization {
        Normalization::Time => {
            run.seconds.ok_or_else(|| DiffError::NoTimes { name: run.name.clone() })
        }
        // All samples may have a period of 0.
        Normalization::Share => Ok(run.total.cost.max(1) as f64),
        Normalization::Samples => Ok(1.0),
        Normalization::Work { before, after } => {
            let amount = if is_after { after } else { before };
            let is_amount = amount.is_finite() && amount > 0.0;
            if is_amount { Ok(amount) } else { Err(DiffError::NoWork { amount }) }
        }
    };
    runs.iter().map(|run| divisor(run).map(f64::recip)).collect()
}
