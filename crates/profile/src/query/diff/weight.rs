//! Weights of samples: their number, their cost, and its variance.

use crate::tables::SampleRow;

/// Weight of several samples. Sums do not depend on the order of samples.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct DiffWeight {
    /// Number of samples.
    pub samples: u64,
    /// Cost in the unit of the comparison, saturating at the maximum of 64 bits.
    pub cost: u64,
    /// Sum of the squared costs, which is the variance of a sum of random samples.
    pub squares: u128,
}

impl DiffWeight {
    /// Returns the weight of a sample: its period, or 1 if it has none or samples are counted.
    pub(super) fn of(sample: &SampleRow, by_samples: bool) -> Self {
        let cost = sample.period().filter(|_| !by_samples).unwrap_or(1);
        Self { samples: 1, cost, squares: u128::from(cost) * u128::from(cost) }
    }

    /// Adds the weight of other samples.
    pub(super) fn add(&mut self, other: Self) {
        self.samples += other.samples;
        self.cost = self.cost.saturating_add(other.cost);
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// Returns the sum of squares as a float.
    pub(super) fn variance(self) -> f64 {
        self.squares as f64
    }

    /// Returns the cost-weighted mean of the samples' costs, or 0 without samples: the sum of squares divided by the
    /// sum.
    pub(super) fn mean(self) -> f64 {
        if self.cost == 0 { 0.0 } else { self.squares as f64 / self.cost as f64 }
    }
}

impl std::iter::Sum for DiffWeight {
    fn sum<I: Iterator<Item = Self>>(weights: I) -> Self {
        weights.fold(Self::default(), |mut sum, weight| {
            sum.add(weight);
            sum
        })
    }
}
