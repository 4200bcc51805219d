//! The cost of samples.

/// A number of samples, and their weight.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// Number of samples.
    pub samples: u64,
    /// Their weight, in the unit of the [`Weights`](crate::query::Weights).
    pub weight: u64,
}

impl Cost {
    pub(crate) const fn add(&mut self, other: Self) {
        self.samples = self.samples.saturating_add(other.samples);
        self.weight = self.weight.saturating_add(other.weight);
    }
}

impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), |mut sum, cost| {
            sum.add(cost);
            sum
        })
    }
}
