//! Fallible allocation of sizes that input states, which can exceed the available memory.

use std::cell::Cell;
use std::collections::TryReserveError;

thread_local! {
    /// True if the current allocation may fail.
    static MAY_FAIL: Cell<bool> = const { Cell::new(false) };
}

/// Reserves memory for `n` more items, if available.
///
/// # Errors
/// If the process cannot or must not have that much.
pub fn try_reserve<T>(items: &mut Vec<T>, n: usize) -> Result<(), TryReserveError> {
    MAY_FAIL.set(true);
    let reserved = items.try_reserve_exact(n);
    MAY_FAIL.set(false);
    reserved
}

/// Returns true if this thread's current allocation may fail.
/// An allocator that ends the program when memory runs out must not do so then.
#[must_use]
pub fn may_fail() -> bool {
    MAY_FAIL.try_with(Cell::get).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_not_is_an_error() {
        let mut items = vec![1_u64];
        assert!(try_reserve(&mut items, usize::MAX / 2).is_err() && !may_fail());
        assert!(try_reserve(&mut items, 9).is_ok_and(|()| items.capacity() >= 10));
    }
}
