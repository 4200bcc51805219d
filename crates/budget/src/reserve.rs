//! Memory of a size that input states: it may be more than there is, which is no reason to end.

use std::cell::Cell;
use std::collections::TryReserveError;

thread_local! {
    /// Whether the allocation that is under way may fail.
    static MAY_FAIL: Cell<bool> = const { Cell::new(false) };
}

/// Memory for so many items more, if there is as much.
///
/// # Errors
/// If the process cannot, or may not, have as much.
pub fn try_reserve<T>(items: &mut Vec<T>, n: usize) -> Result<(), TryReserveError> {
    MAY_FAIL.set(true);
    let reserved = items.try_reserve_exact(n);
    MAY_FAIL.set(false);
    reserved
}

/// Whether the allocation that is under way in this thread may fail: an allocator that ends the program for want of memory
/// does not do so then.
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
