//! What a function costs on both sides, and how sure it is that they differ.

/// What something costs on one side.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct DiffCost {
    /// Samples, of all recordings of the side.
    pub samples: u64,
    /// What they stand for, of all recordings of the side.
    pub cost: u64,
    /// The normalized cost: the mean over the recordings of the side.
    pub value: f64,
}

/// What something costs before and after.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Change {
    /// Before.
    pub before: DiffCost,
    /// After.
    pub after: DiffCost,
    /// Where 95 % of such intervals have the true difference of normalized costs; `None` where nothing is known of it.
    pub interval: Option<[f64; 2]>,
    /// How often a difference as large as this one comes by chance, where there is none; `None` where nothing is known
    /// of it.
    pub p: Option<f64>,
    /// Whether it is called a change: it is among those of which at most 5 % come by chance, and is no smaller than a
    /// thousandth of the total.
    pub marked: bool,
}

impl Change {
    /// The difference of the normalized costs: above 0 where there is more after.
    #[must_use]
    pub fn delta(&self) -> f64 {
        self.after.value - self.before.value
    }

    /// How many times of the cost before there is after; `None` where there was none before.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        (self.before.value > 0.0).then(|| self.after.value / self.before.value)
    }
}
