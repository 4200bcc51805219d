//! How sure a difference is: by the error of sampling where there is one recording a side, by the spread between
//! recordings where there are several.
//!
//! A sample is a random event. Of two recordings, costs by time or work are rates of Poisson processes, shares are
//! proportions; the variance of a sum of samples is the sum of the squares of what each stands for. The error that
//! sampling makes is not that of another run: of that, several recordings alone can tell, by Welch's t test.

use super::change::{Change, DiffCost};
use super::normalize::Normalization;
use super::statistics::{NORMAL_95, discovery_limit, normal_p, student_95, student_p};
use super::weight::DiffWeight;

/// How it is found out how sure a difference is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffMethod {
    /// One recording a side: two Poisson rates. Within these two runs.
    Rates,
    /// One recording a side: two proportions. Within these two runs.
    Proportions,
    /// Three recordings or more a side: Welch's t test of the values of the runs.
    Spread,
    /// Several recordings, but fewer than three on a side: too few to tell.
    Unknown,
}

impl DiffMethod {
    /// The word in output formats.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rates => "rates",
            Self::Proportions => "proportions",
            Self::Spread => "spread",
            Self::Unknown => "unknown",
        }
    }

    /// The method for so many recordings a side.
    pub(super) fn of(normalization: Normalization, before: usize, after: usize) -> Self {
        match (before, after, normalization) {
            (1, 1, Normalization::Share) => Self::Proportions,
            (1, 1, _) => Self::Rates,
            (3.., 3.., _) => Self::Spread,
            _ => Self::Unknown,
        }
    }
}

/// Fewer samples on both sides together are not compared.
pub(super) const FEWEST_SAMPLES: u64 = 5;

/// The share of all marks that may be there by chance.
const FALSE_DISCOVERIES: f64 = 0.05;

/// Changes of a smaller part of the total do not matter, however sure they are.
const SMALLEST_PART: f64 = 0.001;

/// The recordings of a side: of each, all of its samples, and what costs are multiplied with.
#[derive(Debug, Clone)]
pub(super) struct SideNumbers {
    pub(super) totals: Vec<DiffWeight>,
    pub(super) factors: Vec<f64>,
}

impl SideNumbers {
    /// The normalized cost of what weighs so much in each recording.
    pub(super) fn cost(&self, weights: &[DiffWeight]) -> DiffCost {
        let all: DiffWeight = weights.iter().copied().sum();
        DiffCost { samples: all.samples, cost: all.cost, value: mean(&self.values(weights)) }
    }

    /// The normalized cost of each recording.
    fn values(&self, weights: &[DiffWeight]) -> Vec<f64> {
        let costs = weights.iter().map(|weight| weight.cost as f64);
        costs.zip(&self.factors).map(|(cost, factor)| cost * factor).collect()
    }

    /// The variance that sampling gives the normalized cost of each recording, on average.
    fn sampling_variance(&self, weights: &[DiffWeight], shares: bool) -> f64 {
        let runs = weights.iter().zip(&self.totals).zip(&self.factors);
        let variances = runs.map(|((&weight, &total), factor)| {
            // Where there is no sample there might have been one.
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

/// The variance between values, as far as they are a sample of all that there might be.
fn variance_between(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    squares / values.len().saturating_sub(1).max(1) as f64
}

/// The sides of a comparison.
#[derive(Debug)]
pub(super) struct Confidence {
    pub(super) method: DiffMethod,
    pub(super) shares: bool,
    pub(super) before: SideNumbers,
    pub(super) after: SideNumbers,
}

impl Confidence {
    /// The change of what weighs so much in each recording of the sides; not yet marked.
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

    /// One recording a side. The interval takes both sides as they are; the test asks how far apart they would be by
    /// chance if they were the same, so that a side with few samples does not vouch for itself.
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

    /// An interval; shares do not differ by more than all.
    fn around(&self, middle: f64, half: f64) -> [f64; 2] {
        let limit = if self.shares { 1.0 } else { f64::INFINITY };
        [(middle - half).max(-limit), (middle + half).min(limit)]
    }

    /// Several recordings a side. Runs do not differ less than sampling makes them differ: where they seem to, it is by
    /// chance.
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

/// How often chance gives such a difference, of that variance.
fn chance(delta: f64, variance: f64, p: impl Fn(f64) -> f64) -> f64 {
    if delta == 0.0 {
        return 1.0;
    }
    p(delta / variance.max(f64::MIN_POSITIVE).sqrt())
}

/// Marks changes, and gives how many were tested: those of which there are enough samples, and whose costs are enough for
/// a change that matters. What is tested must not depend on the difference itself, or chance would choose it.
/// `total`: the change of the total.
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
        let side =
            |total, factor| SideNumbers { totals: vec![weight(total)], factors: vec![factor] };
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
        // In ten times the time, 100 events are a tenth of the rate of 100.
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

    /// Samples that stand for 10 each are no more certain than samples that stand for 1.
    #[test]
    fn weights_do_not_make_samples_surer() {
        let heavy = |samples: u64| DiffWeight {
            samples,
            cost: 10 * samples,
            squares: u128::from(100 * samples),
        };
        let light = sides(false, [1000, 1000], [1.0, 1.0]).change(&[weight(40)], &[weight(70)]);
        let side = || SideNumbers { totals: vec![heavy(1000)], factors: vec![1.0] };
        let confidence =
            Confidence { method: DiffMethod::Rates, shares: false, before: side(), after: side() };
        let change = confidence.change(&[heavy(40)], &[heavy(70)]);
        is(change.p.unwrap(), light.p.unwrap());
        is(change.delta(), 300.0);
    }

    /// Welch's t of 20, 22, 24 and 30, 35, 40: t = 13 / sqrt(4/3 + 25/3) = 4.1813, 2.6198 degrees of freedom. Their spread
    /// is above that of sampling where samples are worth little.
    #[test]
    fn spread() {
        let runs = |costs: [u64; 3]| {
            costs.map(|cost| DiffWeight { samples: 1000, cost, squares: 1 }).to_vec()
        };
        let (before, after) = (runs([20, 22, 24]), runs([30, 35, 40]));
        let side = || SideNumbers { totals: runs([100; 3]), factors: vec![1.0; 3] };
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
        // Runs that happen to be equal are not surer than sampling allows.
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
