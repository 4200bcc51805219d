//! Ordered hand-off: the thread that completes the next value consumes it
//! and its completed successors; no thread blocks.

use std::sync::{Mutex, PoisonError, TryLockError};

/// Passes values to a closure in the order of their numbers.
pub(crate) struct InOrder<T, F> {
    /// Completed values, by number.
    waiting: Mutex<Vec<Option<T>>>,
    taker: Mutex<Consumer<F>>,
}

struct Consumer<F> {
    /// Number of the next value to consume.
    next: usize,
    take: F,
}

impl<T, F: FnMut(T)> InOrder<T, F> {
    /// Creates a hand-off for `len` values.
    pub(crate) fn new(len: usize, take: F) -> Self {
        let waiting = std::iter::repeat_with(|| None).take(len).collect();
        Self { waiting: Mutex::new(waiting), taker: Mutex::new(Consumer { next: 0, take }) }
    }

    /// Stores a completed value. It is consumed now, or after the values before it.
    pub(crate) fn put(&self, number: usize, value: T) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = waiting.get_mut(number) {
            *slot = Some(value);
        }
        drop(waiting);
        // The consumer may have checked for this value before it was stored,
        // so it checks again after releasing the lock.
        while let Some(next) = self.take_ready()
            && self.is_ready(next)
        {}
    }

    /// Consumes the values that are next, and returns the number of the first missing one;
    /// `None` if another thread does so.
    fn take_ready(&self) -> Option<usize> {
        let mut taker = match self.taker.try_lock() {
            Ok(taker) => taker,
            Err(TryLockError::Poisoned(taker)) => taker.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        while let Some(value) = self.take_out(taker.next) {
            taker.next += 1;
            (taker.take)(value);
        }
        Some(taker.next)
    }

    fn take_out(&self, number: usize) -> Option<T> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.get_mut(number)?.take()
    }

    fn is_ready(&self, number: usize) -> bool {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.get(number).is_some_and(Option::is_some)
    }
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;

    #[test]
    fn values_are_taken_in_their_order() {
        for len in [0, 1, 2, 1000] {
            let mut taken = Vec::new();
            let values = InOrder::new(len, |value| taken.push(value));
            (0..len)
                .into_par_iter()
                .with_max_len(1)
                .for_each(|number| values.put(number, 3 * number));
            drop(values);
            assert_eq!(taken, (0..len).map(|number| 3 * number).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_value_waits_for_those_before_it() {
        let mut taken = Vec::new();
        let values = InOrder::new(3, |value| taken.push(value));
        for (number, value) in [(2, "c"), (0, "a"), (1, "b")] {
            values.put(number, value);
        }
        drop(values);
        assert_eq!(taken, ["a", "b", "c"]);
    }
}
