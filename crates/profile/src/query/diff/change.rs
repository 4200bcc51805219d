//! Costs of a function before and after, and the significance of their difference.

/// Cost of a function or node, before or after.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct DiffCost {
    /// Number of samples in all recordings before or after.
    pub samples: u64,
    /// Cost of these samples, in the unit of the event.
    pub cost: u64,
    /// Normalized cost: the mean over the recordings.
    pub value: f64,
}

/// Costs before and after.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Change {
    /// Before.
    pub before: DiffCost,
    /// After.
    pub after: DiffCost,
    /// 95 % confidence interval of the difference of normalized costs; `None` if unknown.
    pub interval: Option<[f64; 2]>,
    /// p-value: probability of at least this difference by chance if there is no change; `None` if unknown.
    pub p: Option<f64>,
    /// Whether it is marked as a change: the false discovery rate is at most 5 %, and the difference is at least a
    /// thousandth of the total.
    pub marked: bool,
}

impl Change {
    /// Returns the difference of the normalized costs, which is positive if the cost increased.
    #[must_use]
    pub fn delta(&self) -> f64 {
        self.after.value - self.before.value
    }

    /// Returns the cost after relative to that before; `None` if the cost before is 0.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        (self.before.value > 0.0).then(|| self.after.value / self.before.value)
    }
}
