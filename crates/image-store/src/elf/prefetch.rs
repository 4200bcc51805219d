//! Prefetch of compressed sections: bytes unpacked before they are requested.

use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Prefetch state of a section. A request takes the bytes, so that memory use does not increase.
#[derive(Default)]
pub(crate) struct SectionPrefetch(Mutex<PrefetchState>);

#[derive(Default)]
enum PrefetchState {
    #[default]
    Untouched,
    Unpacked(Vec<u8>),
    /// Requested: a prefetch would be too late.
    Requested,
}

impl SectionPrefetch {
    /// Unpacks the section unless it was requested. Concurrent requests wait.
    pub(crate) fn unpack(&self, unpack: impl FnOnce() -> Option<Vec<u8>>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, PrefetchState::Untouched) {
            *state = unpack().map_or(PrefetchState::Requested, PrefetchState::Unpacked);
        }
    }

    /// Returns bytes that were taken, for the next request.
    pub(crate) fn give_back(&self, bytes: Vec<u8>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *state = PrefetchState::Unpacked(bytes);
    }

    /// Returns the prefetched bytes at the first call, if there are any.
    pub(crate) fn take(&self) -> Option<Vec<u8>> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *state, PrefetchState::Requested) {
            PrefetchState::Unpacked(bytes) => Some(bytes),
            PrefetchState::Untouched | PrefetchState::Requested => None,
        }
    }
}

impl fmt::Debug for SectionPrefetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SectionPrefetch")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_unpacked_and_given_once() {
        let prefetch = SectionPrefetch::default();
        prefetch.unpack(|| Some(vec![1]));
        prefetch.unpack(|| Some(vec![2]));
        assert_eq!([prefetch.take(), prefetch.take()], [Some(vec![1]), None]);
        prefetch.unpack(|| Some(vec![3]));
        assert_eq!(prefetch.take(), None);
    }

    #[test]
    fn bytes_that_are_given_back_are_given_once_more() {
        let prefetch = SectionPrefetch::default();
        prefetch.unpack(|| Some(vec![1]));
        prefetch.give_back(prefetch.take().expect("prefetched"));
        prefetch.unpack(|| Some(vec![2]));
        assert_eq!([prefetch.take(), prefetch.take()], [Some(vec![1]), None]);
    }

    #[test]
    fn a_late_or_failed_prefetch_leaves_nothing() {
        let (asked, failed) = (SectionPrefetch::default(), SectionPrefetch::default());
        assert_eq!(asked.take(), None);
        asked.unpack(|| Some(vec![1]));
        failed.unpack(|| None);
        failed.unpack(|| Some(vec![1]));
        assert_eq!([asked.take(), failed.take()], [None, None]);
    }
}
