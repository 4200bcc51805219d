//! Memory ranges for signal handlers: an append-only table of atomics,
//! which handlers can read at any time without a lock.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Number of slots per chunk.
const CHUNK: usize = 1024;
/// Enough chunks for all mappings of a process. Source: proc(5), `vm.max_map_count` is 65,530 unless it was raised.
const CHUNKS: usize = 64;

/// A range with its value. `start` is 0 if the slot is free, and 1 while it is being cleared.
struct RangeSlot<T> {
    start: AtomicUsize,
    end: AtomicUsize,
    value: AtomicPtr<T>,
}

const BUSY: usize = 1;

impl<T> RangeSlot<T> {
    const fn free() -> Self {
        let value = AtomicPtr::new(ptr::null_mut());
        Self { start: AtomicUsize::new(0), end: AtomicUsize::new(0), value }
    }
}

/// Ranges with a value each. Slots are made on demand and never freed.
pub(super) struct RangeTable<T> {
    chunks: [OnceLock<Box<[RangeSlot<T>]>>; CHUNKS],
    /// Free slots; not used by handlers.
    free: Mutex<FreeSlots>,
}

/// Free slots.
struct FreeSlots {
    /// Previously used ones.
    returned: Vec<usize>,
    /// The first one that was never used.
    unused: usize,
}

/// A range that is in the table while this value lives; the memory must live as long.
pub(super) struct RangeEntry<T: 'static> {
    table: &'static RangeTable<T>,
    pub(super) slot: usize,
    /// The handler uses a pointer to it.
    value: Arc<T>,
}

/// Result of a handler's lookup: the range, and a pointer to its value.
pub(super) struct RangeMatch<T> {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Not null, and valid while the entry lives.
    pub(super) value: *const T,
}

impl<T> RangeTable<T> {
    pub(super) const fn new() -> Self {
        let free = Mutex::new(FreeSlots { returned: Vec::new(), unused: 0 });
        Self { chunks: [const { OnceLock::new() }; CHUNKS], free }
    }

    /// Adds a range; `None` if there are too many.
    pub(super) fn add(&'static self, bytes: &[u8], value: Arc<T>) -> Option<RangeEntry<T>> {
        let start = bytes.as_ptr() as usize;
        let index = self.with_free(|free| {
            let new = || {
                let index = free.unused;
                let chunk = self.chunks.get(index / CHUNK)?;
                chunk.get_or_init(|| (0..CHUNK).map(|_| RangeSlot::free()).collect());
                free.unused += 1;
                Some(index)
            };
            free.returned.pop().or_else(new)
        })?;
        let slot = self.slot(index)?;
        slot.end.store(start + bytes.len(), Ordering::Relaxed);
        slot.value.store(Arc::as_ptr(&value).cast_mut(), Ordering::Relaxed);
        slot.start.store(start, Ordering::Release);
        Some(RangeEntry { table: self, slot: index, value })
    }

    /// Returns the range that contains an address. For signal handlers: takes no lock and allocates nothing.
    pub(super) fn find(&self, address: usize) -> Option<RangeMatch<T>> {
        for slot in self.chunks.iter().map_while(OnceLock::get).flatten() {
            let start = slot.start.load(Ordering::Acquire);
            let end = slot.end.load(Ordering::Relaxed);
            let value = slot.value.load(Ordering::Relaxed);
            if start > BUSY && start <= address && address < end && !value.is_null() {
                return Some(RangeMatch { start, end, value });
            }
        }
        None
    }

    fn slot(&self, index: usize) -> Option<&RangeSlot<T>> {
        self.chunks.get(index / CHUNK)?.get()?.get(index % CHUNK)
    }

    fn with_free<R>(&self, f: impl FnOnce(&mut FreeSlots) -> R) -> R {
        f(&mut self.free.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T> RangeEntry<T> {
    pub(super) const fn value(&self) -> &Arc<T> {
        &self.value
    }
}

impl<T> Drop for RangeEntry<T> {
    fn drop(&mut self) {
        if let Some(slot) = self.table.slot(self.slot) {
            slot.start.store(BUSY, Ordering::Release);
            slot.value.store(ptr::null_mut(), Ordering::Relaxed);
            slot.end.store(0, Ordering::Relaxed);
            slot.start.store(0, Ordering::Release);
            self.table.with_free(|free| free.returned.push(self.slot));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_used_again() {
        static TABLE: RangeTable<u32> = RangeTable::new();
        let bytes = [0_u8; 10_000];
        let entries = || -> Vec<RangeEntry<u32>> {
            let one = |(at, byte)| TABLE.add(byte, Arc::new(at)).expect("a slot");
            (0..).zip(bytes.chunks(1)).map(one).collect()
        };
        let slots = |entries: &[RangeEntry<u32>]| {
            entries.iter().map(|it| it.slot).collect::<std::collections::BTreeSet<_>>()
        };
        let first = entries();
        assert_eq!(slots(&first).len(), 10_000);
        let found = TABLE.find(bytes.as_ptr() as usize + 77).expect("a range");
        assert_eq!((found.end - found.start, found.value), (1, Arc::as_ptr(first[77].value())));
        drop(first);
        assert!(TABLE.find(bytes.as_ptr() as usize).is_none());
        assert_eq!(slots(&entries()).last(), Some(&9_999));
    }
}
