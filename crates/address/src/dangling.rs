//! Ids without a row: errors of this program, never of its input.
//!
//! A lookup that finds no row for an id calls [`dangling`],
//! which panics with debug assertions, and so in tests and fuzzing.
//! In release builds the lookup is counted, and the run that takes the counts reports them.

use std::any::type_name;
use std::sync::{Mutex, PoisonError};

/// An id issued by this program: the index of a row.
pub trait Id: Copy {
    /// The index of its row.
    fn index(self) -> usize;
}

/// Rows with lookup by this program's ids.
pub trait ById<T> {
    /// Returns the row of an id. If there is none, that is an error of the caller, which [`dangling`] reports.
    #[cfg_attr(debug_assertions, track_caller)]
    fn by_id<I: Id>(&self, id: I) -> Option<&T>;

    /// Returns the row of an id, mutably. See [`ById::by_id`].
    #[cfg_attr(debug_assertions, track_caller)]
    fn by_id_mut<I: Id>(&mut self, id: I) -> Option<&mut T>;
}

impl<T> ById<T> for [T] {
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    fn by_id<I: Id>(&self, id: I) -> Option<&T> {
        let row = self.get(id.index());
        if row.is_none() {
            dangling::<I>();
        }
        row
    }

    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    fn by_id_mut<I: Id>(&mut self, id: I) -> Option<&mut T> {
        let row = self.get_mut(id.index());
        if row.is_none() {
            dangling::<I>();
        }
        row
    }
}

/// Number of lookups without a row, by type of id.
static COUNTS: Mutex<Vec<(&'static str, u64)>> = Mutex::new(Vec::new());

/// Counts a lookup that found no row. `I` is the type of the id.
#[cold]
#[inline(never)]
#[cfg_attr(debug_assertions, track_caller)]
pub fn dangling<I>() {
    let name = type_name::<I>();
    debug_assert!(false, "a {name} names no row");
    let mut counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    match counts.iter_mut().find(|(known, _)| *known == name) {
        Some((_, count)) => *count = count.saturating_add(1),
        None => counts.push((name, 1)),
    }
}

/// Takes the counts since the last call: types of ids, without their modules, and numbers of lookups without a row.
#[must_use]
pub fn take_dangling() -> Vec<(&'static str, u64)> {
    let counts = std::mem::take(&mut *COUNTS.lock().unwrap_or_else(PoisonError::into_inner));
    let short = |name: &'static str| name.rsplit("::").next().unwrap_or(name);
    counts.into_iter().map(|(name, count)| (short(name), count)).collect()
}
