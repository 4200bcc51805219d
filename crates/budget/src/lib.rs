//! Limits on work and memory for untrusted input, in proportion to its size.
//!
//! Recordings and ELF files are untrusted.
//! A few bytes can state a section of many gigabytes, or tables with a product larger than any real program.
//! All memory and work that such input can cause is therefore counted.
//! A [`Budget`] states for each [`Resource`] the amount that input of a size may use, and an [`Allowance`] counts it.
//! If a resource runs out, [`Exhausted`] names it for a finding; the rest of the input is still read.
//! Readers draw from a [`Meter`]: the steps of their loops and the bytes that they hold.
//! [`MemoryBudget`] counts all memory of a run; a run that exceeds its limit ends.
//!
//! ```
//! use budget::{Budget, Limit, Resource};
//!
//! let budget = Budget::default().with(Resource::DebugEntries, Limit { base: 2, per_byte: 1, most: 100 });
//! let mut entries = budget.allowance(Resource::DebugEntries, 3);
//! assert_eq!(entries.limit(), 5);
//! entries.take(5)?;
//! let exhausted = entries.take(1).unwrap_err();
//! assert_eq!(exhausted.to_string(), "more than 5 entries of debug information");
//! # Ok::<(), budget::Exhausted>(())
//! ```

mod allowance;
mod json;
mod memory;
mod meter;
mod reserve;
mod resource;

pub use allowance::{Allowance, Exhausted, SharedAllowance};
pub use json::{JsonShape, TooDeep};
pub use memory::{HeldMemory, MemoryBudget, MemoryExceeded, MemoryUse, set_gauge};
pub use meter::{Charged, JsonRefused, Meter};
pub use reserve::{may_fail, try_reserve};
pub use resource::{Limit, Resource};

/// Limits of input for each resource. One value per run, passed down to all readers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    limits: [Limit; Resource::ALL.len()],
}

impl Default for Budget {
    /// The limits of [`Resource::default_limit`].
    fn default() -> Self {
        Self { limits: Resource::ALL.map(Resource::default_limit) }
    }
}

impl Budget {
    /// Returns the budget with another limit for one resource.
    #[must_use]
    pub fn with(mut self, resource: Resource, limit: Limit) -> Self {
        if let Some(slot) = self.limits.get_mut(resource as usize) {
            *slot = limit;
        }
        self
    }

    /// Limit of a resource.
    #[must_use]
    pub fn limit(&self, resource: Resource) -> Limit {
        self.limits.get(resource as usize).copied().unwrap_or_else(|| resource.default_limit())
    }

    /// Returns the allowance of a resource for input of that size, counted by one thread.
    #[must_use]
    pub fn allowance(&self, resource: Resource, input_bytes: u64) -> Allowance {
        Allowance::new(resource, self.limit(resource).of(input_bytes))
    }

    /// Returns the allowance of a resource for input of that size, shared by several threads.
    #[must_use]
    pub fn shared_allowance(&self, resource: Resource, input_bytes: u64) -> SharedAllowance {
        SharedAllowance::new(resource, self.limit(resource).of(input_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_resource_has_a_limit_of_its_own() {
        let limit = Limit { base: 1, per_byte: 0, most: 1 };
        for resource in Resource::ALL {
            let budget = Budget::default().with(resource, limit);
            for other in Resource::ALL {
                let expected = if other == resource { limit } else { other.default_limit() };
                assert_eq!(budget.limit(other), expected, "{resource}");
            }
        }
    }

    #[test]
    fn limits_grow_with_the_input_up_to_the_most() {
        let limit = Limit { base: 10, per_byte: 3, most: 100 };
        assert_eq!([0, 1, 30, 31, u64::MAX].map(|bytes| limit.of(bytes)), [10, 13, 100, 100, 100]);
    }
}
