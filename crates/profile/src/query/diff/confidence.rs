//! Significance of a difference: from the sampling error for one recording before and after, from the spread between
//! recordings for several.
//!
//! A sample is a random event. For two recordings, costs by time or work are rates of Poisson processes, and shares are
//! proportions. The variance of a sum of samples is the sum of the squares of their costs. The sampling error does not
//! include differences between runs; only several recordings reveal these, by Welch's t test.

use super::change::{Change, DiffCost};
use super::normalize::Normalization;
use super::statistics::{NORMAL_95, discovery_limit, normal_p, student_95, student_p};
use super::weight::DiffWeight;

/// Method that determines the significance of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffMethod {
    /// One recording before and after, compared as Poisson rates. The result applies only to these two runs.
    Rates,
    /// One recording before and after, compared as proportions. The result applies only to these two runs.
    Proportions,
    /// At least three recordings before and after, compared by Welch's t test of the runs' values.
    Spread,
    /// Several recordings, but fewer than three before or after: not enough for a test.
    Unknown,
}

impl DiffMethod {
    /// Keyword in output formats.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rates => "rates",
            Self::Proportions => "proportions",
            Self::Spread => "spread",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the method for these numbers of recordings.
    pub(super) fn of(normalization: Normalization, before: usize, after: usize) -> Self {
        match (before, after, normalization) {
            (1, 1, Normalization::Share) => Self::Proportions,
            (1, 1, _) => Self::Rates,
            (3.., 3.., _) => Self::Spread,
            _ => Self::Unknown,
        }
    }
}

/// Minimum number of samples, before and after together, for a test.
pub(super) const FEWEST_SAMPLES: u64 = 5;

/// Maximum false discovery rate of the marks.
const FALSE_DISCOVERIES: f64 = 0.05;

/// Minimum size of a relevant change, relative to the total.
const SMALLEST_PART: f64 = 0.001;

/// The recordings before or after: total weight and normalization factor of each.
#[derive(Debug, Clone)]
pub(super) struct RunTotals {
    pub(super) totals: Vec<DiffWeight>,
    pub(super) factors: Vec<f64>,
}

impl RunTotals {
    /// Returns the normalized cost of one weight per recording.
    pub(super) fn cost(&self, weights: &[DiffWeight]) -> DiffCost {
        let all: DiffWeight = weights.iter().copied().sum();
        DiffCost { samples: all.samples, cost: all.cost, value: mean(&self.values(weights)) }
    }

    /// Returns the normalized cost in each recording.
    fn values(&self, weights: &[DiffWeight]) -> Vec<f64> {
        let costs = weights.iter().map(|weight| weight.cost as f64);
        costs.zip(&self.factors).map(|(cost, factor)| cost * factor).collect()
    }

    /// Returns the sampling variance of the normalized cost, averaged over the recordings.
    fn sampling_variance(&self, weights: &[DiffWeight], shares: bool) -> f64 {
        let runs = weights.iter().zip(&self.totals).zip(&self.factors);
        let variances = runs.map(|((&weight, &total), factor)| {
            // Zero samples are treated as one, since one could have occurred.
            let one = total.mean() * total.mean();
            let squares = if weight.samples == 0 { one } else { weight.variance() };
            let squares = if shares {
                let share = weight.cost as f64 * factor;
                let others = (total.variance() - squares).max(0.0);
                (1.0 - share) * (1.0 - share) * squares + share * share * others
            } else {
                squares
            };
            factor * factor * squares
        });
        mean(&variances.collect::<Vec<_>>())
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Returns the sample variance of the values.
fn variance_between(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    squares / values.len().saturating_sub(1).max(1) as f64
}

/// The recordings before and after, and the method to compare them.
#[derive(Debug)]
pub(super) struct Confidence {
    pub(super) method: DiffMethod,
    pub(super) shares: bool,
    pub(super) before: RunTotals,
    pub(super) after: RunTotals,
}

impl Confidence {
    /// Returns the change for one weight per recording before and after; it is not marked yet.
    pub(super) fn change(&self, before: &[DiffWeight], after: &[DiffWeight]) -> Change {
        let mut change = Change {
            before: self.before.cost(before),
            after: self.after.cost(after),
            ..Change::default()
        };
        match self.method {
            DiffMethod::Rates | DiffMethod::Proportions => {
                self.single(before, after, &mut change);
            }
            DiffMethod::Spread => self.spread(before, after, &mut change),
            DiffMethod::Unknown => {}
        }
        change
    }

    /// Evaluates one recording before and after. The interval uses the variance of each recording. The test uses the
    /// pooled variance under the hypothesis of no change, so that a recording with few samples does not determine its
    /// own variance.
    fn single(&self, before: &[DiffWeight], after: &[DiffWeight], change: &mut Change) {
        let variance = self.before.sampling_variance(before, self.shares)
            + self.after.sampling_variance(after, self.shares);
        change.interval = Some(self.around(change.delta(), NORMAL_95 * variance.sqrt()));
        let sides = [(&self.before, before), (&self.after, after)];
        let runs = sides.map(|(side, weights)| {
            let weight = weights.first().copied().unwrap_or_default();
            let total = side.totals.first().copied().unwrap_or_default();
            (weight, total, side.factors.first().copied().unwrap_or(0.0))
        });
        let [(a, total_a, factor_a), (b, total_b, factor_b)] = runs;
        let cost = a.cost as f64 + b.cost as f64;
        let common = cost / (factor_a.recip() + factor_b.recip());
        let same = if self.shares {
            let spread = |total: DiffWeight, factor: f64| total.variance() * factor * factor;
            common * (1.0 - common) * (spread(total_a, factor_a) + spread(total_b, factor_b))
        } else {
            let size = |weight: DiffWeight, total: DiffWeight| {
                if weight.samples == 0 { total.mean() } else { weight.mean() }
            };
            common * (size(a, total_a) * factor_a + size(b, total_b) * factor_b)
        };
        change.p = Some(chance(change.delta(), same, normal_p));
    }

    /// Returns an interval. A difference of shares is at most 1.
    fn around(&self, middle: f64, half: f64) -> [f64; 2] {
        let limit = if self.shares { 1.0 } else { f64::INFINITY };
        [(middle - half).max(-limit), (middle + half).min(limit)]
    }

    /// Evaluates several recordings before and after. The variance between runs is at least the sampling variance; a
    /// smaller one is due to chance.
    fn spread(&self, before: &[DiffWeight], after: &[DiffWeight], change: &mut Change) {
        let sides = [(&self.before, before), (&self.after, after)];
        let [(error_a, free_a), (error_b, free_b)] = sides.map(|(side, weights)| {
            let between = variance_between(&side.values(weights));
            let runs = weights.len().max(2) as f64;
            (between.max(side.sampling_variance(weights, self.shares)) / runs, runs - 1.0)
        });
        let error = error_a + error_b;
        // Source: Welch, "The generalization of Student's problem", 1947; Satterthwaite's degrees of freedom.
        let degrees = error * error / (error_a * error_a / free_a + error_b * error_b / free_b);
        let degrees = if degrees.is_finite() { degrees } else { free_a + free_b };
        change.interval = Some(self.around(change.delta(), student_95(degrees) * error.sqrt()));
        change.p = Some(chance(change.delta(), error, |t| student_p(t, degrees)));
    }
}

/// Returns the probability of at least such a difference by chance, given its variance.
fn chance(delta: f64, variance: f64, p: impl Fn(f64) -> f64) -> f64 {
    if delta == 0.0 {
        return 1.0;
    }
    p(delta / variance.max(f64::MIN_POSITIVE).sqrt())
}

/// Marks significant changes and returns the number of tested ones: those with enough samples, and with enough cost for
/// a relevant change. The selection must not depend on the difference itself, which would bias the test. `total`: the
/// change of the total.
pub(super) fn mark<'a>(changes: impl Iterator<Item = &'a mut Change>, total: &Change) -> usize {
    let smallest = SMALLEST_PART * f64::midpoint(total.before.value, total.after.value);
    let is_tested = |change: &&'a mut Change| {
        let Change { before, after, .. } = **change;
        before.samples + after.samples >= FEWEST_SAMPLES && before.value + after.value >= smallest
    };
    let tested: Vec<&mut Change> = changes.filter(is_tested).collect();
    let limit =
        discovery_limit(tested.iter().filter_map(|change| change.p).collect(), FALSE_DISCOVERIES);
    let n = tested.len();
    for change in tested {
        let is_sure = limit.is_some_and(|limit| change.p.is_some_and(|p| p <= limit));
        change.marked = is_sure && change.delta().abs() >= smallest;
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(samples: u64) -> DiffWeight {
        DiffWeight { samples, cost: samples, squares: u128::from(samples) }
    }

    fn sides(shares: bool, totals: [u64; 2], factors: [f64; 2]) -> Confidence {
        let side = |total, factor| RunTotals { totals: vec![weight(total)], factors: vec![factor] };
        let method = if shares { DiffMethod::Proportions } else { DiffMethod::Rates };
        let [before, after] = [0, 1].map(|index| side(totals[index], factors[index]));
        Confidence { method, shares, before, after }
    }

    #[track_caller]
    fn is(found: f64, expected: f64) {
        assert!(
            (found - expected).abs() < 1e-6 * expected.abs().max(1e-6),
            "{found}, not {expected}"
        );
    }

    /// 100 and 144 events in equal times: z = 44 / sqrt(244) = 2.8168.
    #[test]
    fn rates() {
        let change = sides(false, [1000, 1000], [0.1, 0.1]).change(&[weight(100)], &[weight(144)]);
        is(change.delta(), 4.4);
        is(change.p.unwrap(), 0.004_850_300_457);
        let [low, high] = change.interval.unwrap();
        is(low, 4.4 - 0.1 * NORMAL_95 * 244_f64.sqrt());
        is(high, 4.4 + 0.1 * NORMAL_95 * 244_f64.sqrt());
        // In ten times the time, 100 events are a tenth of the rate.
        let change = sides(false, [1000, 100], [1.0, 10.0]).change(&[weight(50)], &[weight(0)]);
        let z = 50.0 / (50.0 / 1.1 * 11.0_f64).sqrt();
        is(change.p.unwrap(), normal_p(z));
        assert!(z < 2.3, "nothing in a short time is no proof");
    }

    /// 100 of 1000 and 144 of 1000: the pooled z of two proportions is 2.9998.
    #[test]
    fn proportions() {
        let confidence = sides(true, [1000, 1000], [0.001, 0.001]);
        let change = confidence.change(&[weight(100)], &[weight(144)]);
        is(change.delta(), 0.044);
        let common: f64 = 0.122;
        is(change.p.unwrap(), normal_p(0.044 / (common * (1.0 - common) * 0.002).sqrt()));
        let half: f64 = 0.1 * 0.9 / 1000.0 + 0.144 * 0.856 / 1000.0;
        is(change.interval.unwrap()[0], 0.044 - NORMAL_95 * half.sqrt());
        let all = confidence.change(&[weight(1000)], &[weight(1000)]);
        assert_eq!((all.p, all.interval), (Some(1.0), Some([0.0, 0.0])));
    }

    /// Samples with a period of 10 are as significant as samples with a period of 1.
    #[test]
    fn weights_do_not_make_samples_surer() {
        let heavy = |samples: u64| DiffWeight {
            samples,
            cost: 10 * samples,
            squares: u128::from(100 * samples),
        };
        let light = sides(false, [1000, 1000], [1.0, 1.0]).change(&[weight(40)], &[weight(70)]);
        let side = || RunTotals { totals: vec![heavy(1000)], factors: vec![1.0] };
        let confidence =
            Confidence { method: DiffMethod::Rates, shares: false, before: side(), after: side() };
        let change = confidence.change(&[heavy(40)], &[heavy(70)]);
        is(change.p.unwrap(), light.p.unwrap());
        is(change.delta(), 300.0);
    }

    /// Welch's t of 20, 22, 24 and 30, 35, 40: t = 13 / sqrt(4/3 + 25/3) = 4.1813, 2.6240 degrees of freedom.
    /// The spread exceeds the sampling variance because the samples have little weight.
    #[test]
    fn spread() {
        let runs = |costs: [u64; 3]| {
            costs.map(|cost| DiffWeight { samples: 1000, cost, squares: 1 }).to_vec()
        };
        let (before, after) = (runs([20, 22, 24]), runs([30, 35, 40]));
        let side = || RunTotals { totals: runs([100; 3]), factors: vec![1.0; 3] };
        let confidence =
            Confidence { method: DiffMethod::Spread, shares: false, before: side(), after: side() };
        let change = confidence.change(&before, &after);
        is(change.delta(), 13.0);
        let error: f64 = 4.0 / 3.0 + 25.0 / 3.0;
        let degrees =
            error * error / ((4.0_f64 / 3.0).powi(2) / 2.0 + (25.0_f64 / 3.0).powi(2) / 2.0);
        is(degrees, 2.624_024_961);
        is(change.p.unwrap(), student_p(13.0 / error.sqrt(), degrees));
        assert!((0.02..0.05).contains(&change.p.unwrap()));
        // Equal runs are not more significant than the sampling error permits.
        let equal = confidence.change(&[weight(100); 3], &[weight(110); 3]);
        is(equal.p.unwrap(), student_p(10.0 / 70_f64.sqrt(), 4.0 * (1.0 - 1.0 / 442.0)));
    }

    #[test]
    fn few_runs_tell_nothing() {
        for (before, after, expected) in [
            (1, 1, DiffMethod::Rates),
            (1, 3, DiffMethod::Unknown),
            (2, 2, DiffMethod::Unknown),
            (3, 4, DiffMethod::Spread),
        ] {
            assert_eq!(DiffMethod::of(Normalization::Time, before, after), expected);
        }
        assert_eq!(DiffMethod::of(Normalization::Share, 1, 1), DiffMethod::Proportions);
    }
}
