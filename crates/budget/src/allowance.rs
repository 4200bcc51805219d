//! Counters of used resources.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::memory::{MemoryBudget, MemoryUse};
use crate::resource::Resource;

/// Input uses more of a resource than its size allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("more than {} {resource}", with_commas(*limit))]
pub struct Exhausted {
    /// The exhausted resource.
    pub resource: Resource,
    /// Initial allowance.
    pub limit: u64,
}

/// Remaining allowance of a resource, for one thread.
#[derive(Clone, Debug)]
pub struct Allowance {
    resource: Resource,
    limit: u64,
    left: u64,
}

impl Allowance {
    /// Creates an allowance.
    #[must_use]
    pub const fn new(resource: Resource, limit: u64) -> Self {
        Self { resource, limit, left: limit }
    }

    /// Initial allowance.
    #[must_use]
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// Remaining allowance.
    #[must_use]
    pub const fn left(&self) -> u64 {
        self.left
    }

    /// Uses some of the allowance.
    ///
    /// # Errors
    /// [`Exhausted`] if less than `amount` is left; then nothing is left any more.
    #[inline]
    pub const fn take(&mut self, amount: u64) -> Result<(), Exhausted> {
        if let Some(left) = self.left.checked_sub(amount) {
            self.left = left;
            return Ok(());
        }
        self.left = 0;
        Err(Exhausted { resource: self.resource, limit: self.limit })
    }
}

/// Remaining allowance of a resource, shared by several threads.
#[derive(Debug)]
pub struct SharedAllowance {
    resource: Resource,
    limit: u64,
    left: AtomicU64,
    /// Memory account that is charged, too, and its use.
    memory: Option<(Arc<MemoryBudget>, MemoryUse)>,
}

impl SharedAllowance {
    /// Creates an allowance.
    #[must_use]
    pub const fn new(resource: Resource, limit: u64) -> Self {
        Self { resource, limit, left: AtomicU64::new(limit), memory: None }
    }

    /// Also counts used bytes as held by a run while the allowance lives.
    #[must_use]
    pub fn held_in(mut self, memory: &Arc<MemoryBudget>, of: MemoryUse) -> Self {
        self.memory = Some((memory.clone(), of));
        self
    }

    /// Remaining allowance at the moment.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }

    /// Uses some of the allowance.
    ///
    /// # Errors
    /// [`Exhausted`] if less than `amount` is left. The remainder can still be taken in smaller amounts.
    pub fn take(&self, amount: u64) -> Result<(), Exhausted> {
        self.take_for(amount, || self.resource.to_string())
    }

    /// The same; `reading` names the purpose if a run exceeds its memory limit.
    ///
    /// # Errors
    /// The same as of [`Self::take`].
    pub fn take_for(&self, amount: u64, reading: impl FnOnce() -> String) -> Result<(), Exhausted> {
        let exhausted = Exhausted { resource: self.resource, limit: self.limit };
        let left = |left: u64| left.checked_sub(amount);
        let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left);
        taken.map_err(|_| exhausted)?;
        let Some((memory, of)) = &self.memory else { return Ok(()) };
        if memory.allows(amount, reading) {
            memory.take(*of, amount);
            return Ok(());
        }
        self.left.fetch_add(amount, Ordering::Relaxed);
        Err(exhausted)
    }
}

impl Drop for SharedAllowance {
    fn drop(&mut self) {
        if let Some((memory, of)) = &self.memory {
            memory.give_back(*of, self.limit - self.left());
        }
    }
}

/// Formats a number with commas: `1,234,567`.
fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceeding_the_allowance_leaves_nothing() {
        let mut allowance = Allowance::new(Resource::LineRows, 10);
        assert_eq!(allowance.take(4), Ok(()));
        assert_eq!(allowance.left(), 6);
        let exhausted = Exhausted { resource: Resource::LineRows, limit: 10 };
        assert_eq!(allowance.take(7), Err(exhausted));
        assert_eq!((allowance.take(0), allowance.take(1)), (Ok(()), Err(exhausted)));
    }

    #[test]
    fn what_is_shared_is_used_once() {
        let allowance = SharedAllowance::new(Resource::UnpackedBytes, 1000);
        let taken = std::thread::scope(|scope| {
            let threads = [(); 4]
                .map(|()| scope.spawn(|| (0..500).filter(|_| allowance.take(1).is_ok()).count()));
            threads.into_iter().map(|thread| thread.join().unwrap_or(0)).sum::<usize>()
        });
        assert_eq!(taken, 1000);
        let exhausted = Exhausted { resource: Resource::UnpackedBytes, limit: 1000 };
        assert_eq!((allowance.take(0), allowance.take(1)), (Ok(()), Err(exhausted)));
    }

    #[test]
    fn what_a_run_holds_is_counted_once() {
        let memory = Arc::new(MemoryBudget::new(Some(100)));
        let allowance = SharedAllowance::new(Resource::HeldInAll, 1000);
        let allowance = allowance.held_in(&memory, MemoryUse::Files);
        assert_eq!(allowance.take(60), Ok(()));
        let exhausted = Exhausted { resource: Resource::HeldInAll, limit: 1000 };
        assert_eq!(allowance.take(2000), Err(exhausted));
        assert!(!memory.is_exceeded());
        assert_eq!(allowance.take_for(41, || "a list".to_owned()), Err(exhausted));
        assert_eq!((allowance.left(), memory.held()), (940, 60));
        assert_eq!(memory.exceeded().map(|it| &*it.reading), Some("a list"));
        drop(allowance);
        assert_eq!(memory.held(), 0);
    }

    #[test]
    fn numbers_are_written_with_commas() {
        assert_eq!([0, 999, 1000, 1_234_567].map(with_commas), ["0", "999", "1,000", "1,234,567"]);
    }
}
