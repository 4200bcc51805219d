//! What samples weigh: their number, what they stand for, and how much that varies.

use crate::tables::SampleRow;

/// Samples counted together. Sums do not depend on their order.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct DiffWeight {
    /// How many.
    pub samples: u64,
    /// What they cost, in the unit of the comparison; a sum beyond 64 bits stays at their maximum.
    pub cost: u64,
    /// The sum of the squares of what each costs: the variance of a sum of samples that come at random.
    pub squares: u128,
}

impl DiffWeight {
    /// That of a sample: its period, or 1 where it has none or where samples are counted.
    pub(super) fn of(sample: &SampleRow, by_samples: bool) -> Self {
        let cost = sample.period().filter(|_| !by_samples).unwrap_or(1);
        Self { samples: 1, cost, squares: u128::from(cost) * u128::from(cost) }
    }

    /// Adds others.
    pub(super) fn add(&mut self, other: Self) {
        self.samples += other.samples;
        self.cost = self.cost.saturating_add(other.cost);
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// The squares as a number to calculate with.
    pub(super) fn variance(self) -> f64 {
        self.squares as f64
    }

    /// What a sample stands for where it counts most: the squares over the sum. 0 for no samples.
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
