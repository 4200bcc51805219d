//! A table with rows identified by one type of id.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use address::{ById as _, dangling};

use crate::encoding::{Decoder, Encoding, encode_rows};
use crate::id::RowId;

/// Rows with consecutive ids.
pub struct Table<I, T> {
    rows: Vec<T>,
    ids: PhantomData<fn() -> I>,
}

impl<I, T> Table<I, T> {
    /// Returns a table without rows.
    #[must_use]
    pub const fn new() -> Self {
        Self::from_vec(Vec::new())
    }

    /// Returns the table of these rows; the first has index 0.
    #[must_use]
    pub const fn from_vec(rows: Vec<T>) -> Self {
        Self { rows, ids: PhantomData }
    }

    /// Number of rows.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns true if there are no rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Rows in the order of their ids.
    #[must_use]
    pub const fn as_slice(&self) -> &[T] {
        self.rows.as_slice()
    }

    /// Mutable rows in the order of their ids.
    pub const fn as_mut_slice(&mut self) -> &mut [T] {
        self.rows.as_mut_slice()
    }

    /// Returns the rows in the order of their ids.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.rows
    }

    /// Iterates over the rows in the order of their ids.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.rows.iter()
    }

    /// Iterates mutably over the rows in the order of their ids.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.rows.iter_mut()
    }

    /// Memory of the rows in bytes, without memory that they own elsewhere.
    #[must_use]
    pub const fn heap_bytes(&self) -> usize {
        self.rows.capacity() * size_of::<T>()
    }

    /// Reserves capacity for `additional` more rows.
    pub fn reserve(&mut self, additional: usize) {
        self.rows.reserve(additional);
    }

    /// Retains the first `length` rows.
    pub fn truncate(&mut self, length: usize) {
        self.rows.truncate(length);
    }

    /// Removes the first `rows` rows, which changes the ids of later ones. Only for tables without stored ids.
    pub fn drop_first(&mut self, rows: usize) {
        self.rows.drain(..rows.min(self.rows.len()));
    }

    /// Removes all rows and retains the memory.
    pub fn clear(&mut self) {
        self.rows.clear();
    }
}

impl<I: RowId, T> Table<I, T> {
    /// Adds a row and returns its id.
    #[inline]
    pub fn push(&mut self, row: T) -> I {
        let id = I::from_index(self.rows.len());
        self.rows.push(row);
        id
    }

    /// Returns the row of an id from this table. An unknown id is a bug of the caller: it panics in debug builds and is
    /// counted in release builds ([`dangling`]).
    #[inline]
    #[must_use]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn get(&self, id: I) -> Option<&T> {
        self.rows.by_id(id)
    }

    /// Returns the mutable row of an id from this table. See [`Table::get`].
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.rows.by_id_mut(id)
    }

    /// Returns consecutive rows, from a stored first id and count. A range outside the table is a bug of the caller, as
    /// for [`Table::get`]; the result is then empty.
    #[inline]
    #[must_use]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn range(&self, rows: Range<usize>) -> &[T] {
        self.rows.get(rows).unwrap_or_else(|| {
            dangling::<I>();
            &[]
        })
    }

    /// Returns the row of an id that may be invalid, such as one from a query; `None` if there is none.
    #[inline]
    #[must_use]
    pub fn find(&self, id: I) -> Option<&T> {
        self.rows.get(id.index())
    }

    /// Iterates over the ids of all rows.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = I> + DoubleEndedIterator + use<I, T> {
        (0..self.rows.len()).map(I::from_index)
    }

    /// Iterates over all rows with their ids.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (I, &T)> + DoubleEndedIterator {
        self.rows.iter().enumerate().map(|(index, row)| (I::from_index(index), row))
    }

    /// Returns the id of the next row to be added.
    #[must_use]
    pub fn next_id(&self) -> I {
        I::from_index(self.rows.len())
    }
}

impl<I, T> Default for Table<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I, T: Clone> Clone for Table<I, T> {
    fn clone(&self) -> Self {
        Self::from_vec(self.rows.clone())
    }
}

impl<I, T: PartialEq> PartialEq for Table<I, T> {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows
    }
}

impl<I, T: Eq> Eq for Table<I, T> {}

impl<I, T: Encoding> Encoding for Table<I, T> {
    const BYTES: usize = Vec::<T>::BYTES;
    const IS_FIXED: bool = false;

    fn encode(&self, out: &mut Vec<u8>) {
        encode_rows(&self.rows, out);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Option<Self> {
        Vec::decode(decoder).map(Self::from_vec)
    }
}

impl<I, T: fmt::Debug> fmt::Debug for Table<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rows.fmt(f)
    }
}

impl<I, T> From<Vec<T>> for Table<I, T> {
    fn from(rows: Vec<T>) -> Self {
        Self::from_vec(rows)
    }
}

impl<I, T> FromIterator<T> for Table<I, T> {
    fn from_iter<R: IntoIterator<Item = T>>(rows: R) -> Self {
        Self::from_vec(rows.into_iter().collect())
    }
}

impl<I, T> Extend<T> for Table<I, T> {
    fn extend<R: IntoIterator<Item = T>>(&mut self, rows: R) {
        self.rows.extend(rows);
    }
}

impl<I, T> IntoIterator for Table<I, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.rows.into_iter()
    }
}

impl<'a, I, T> IntoIterator for &'a Table<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.rows.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::FrameId;

    #[test]
    fn rows_come_back_by_their_ids() {
        let mut table: Table<FrameId, char> = ['a', 'b'].into_iter().collect();
        assert_eq!(table.push('c'), FrameId::new(2));
        assert_eq!(table.get(FrameId::new(1)), Some(&'b'));
        assert_eq!(table.find(FrameId::new(3)), None);
        table.extend(['d']);
        assert_eq!(table.next_id(), FrameId::new(4));
        let ids: Vec<FrameId> = table.ids().collect();
        assert_eq!(ids, [0, 1, 2, 3].map(FrameId::new));
        assert_eq!(table.entries().next_back(), Some((FrameId::new(3), &'d')));
        assert_eq!(table.clone().into_vec(), ['a', 'b', 'c', 'd']);
        table.drop_first(3);
        assert_eq!(table.as_slice(), ['d']);
        table.drop_first(3);
        assert!(table.is_empty());
    }

    #[test]
    #[cfg_attr(debug_assertions, should_panic(expected = "a profile::id::FrameId names no row"))]
    fn a_dangling_id_panics_in_tests() {
        assert_eq!(Table::from_vec(vec!['a']).get(FrameId::new(1)), None);
        let counts = address::take_dangling();
        assert!(counts.contains(&("FrameId", 1)), "{counts:?}");
    }
}
