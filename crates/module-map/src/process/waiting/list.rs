//! Maps of a process that wait until its space is needed.
//! Most processes of a build end without a sample, and their spaces are never needed.

use budget::HeldMemory;

use super::cached_map::CachedMap;

/// Maximum number of maps in one list; further ones go to a new list.
const MOST: usize = 256;
/// Initial capacity.
const FIRST: usize = 32;

/// Accounted bytes per waiting map.
const WAITING: usize = size_of::<CachedMap>();

/// Recorded maps that are not in the space yet, in record order.
#[derive(Debug)]
pub(crate) struct WaitingMaps {
    maps: Vec<CachedMap>,
    held: HeldMemory,
}

impl WaitingMaps {
    /// An empty list.
    pub(crate) const NONE: Self = Self { maps: Vec::new(), held: HeldMemory::UNCOUNTED };

    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.maps.is_empty()
    }

    /// Adds a map unless the list is full. Charged to the account of `held`.
    pub(crate) fn push(&mut self, map: CachedMap, held: &HeldMemory) -> bool {
        self.extend(std::iter::once(map), held)
    }

    /// Adds several maps: all of them or none.
    #[inline]
    pub(crate) fn extend(
        &mut self,
        maps: impl ExactSizeIterator<Item = CachedMap>,
        held: &HeldMemory,
    ) -> bool {
        let room = self.maps.capacity() - self.maps.len();
        if maps.len() > room && !self.grow(maps.len(), held) {
            return false;
        }
        self.maps.extend(maps);
        true
    }

    /// Increases the capacity by `more` maps, up to the maximum.
    #[cold]
    fn grow(&mut self, more: usize, held: &HeldMemory) -> bool {
        let needed = self.maps.len() + more;
        if needed > MOST {
            return false;
        }
        if self.maps.capacity() == 0 {
            self.held = held.another(0);
        }
        let room = needed.max(2 * self.maps.capacity()).clamp(FIRST, MOST);
        self.maps.reserve_exact(room.saturating_sub(self.maps.len()));
        self.count();
        true
    }

    fn count(&mut self) {
        self.held.set((self.maps.capacity() * WAITING) as u64);
    }

    /// The maps.
    pub(crate) fn all(&self) -> &[CachedMap] {
        &self.maps
    }

    /// Takes all maps out. The capacity remains: a process with one sample probably gets more.
    pub(crate) fn take(&mut self) -> MapList {
        let list = MapList {
            maps: self.maps.as_slice().into(),
            _held: self.held.another((self.maps.len() * WAITING) as u64),
        };
        self.clear();
        list
    }

    /// Removes all maps.
    pub(crate) fn clear(&mut self) {
        self.maps.clear();
    }
}

/// Maps to put into a space.
#[derive(Debug)]
pub(crate) struct MapList {
    pub(crate) maps: Box<[CachedMap]>,
    /// Memory account of the maps, released with them.
    _held: HeldMemory,
}

#[cfg(test)]
mod tests {
    use address::{Avma, FileOffset, ModuleId, Pid};
    use budget::{MemoryBudget, MemoryUse};
    use std::sync::Arc;

    use super::*;
    use crate::space::Mapping;

    #[test]
    fn so_many_wait_and_what_they_take_is_counted() {
        let memory = Arc::new(MemoryBudget::default());
        let held = HeldMemory::new(&memory, MemoryUse::Processes);
        let mapping = Mapping {
            start: Avma(0),
            end: Avma(1),
            offset: FileOffset(0),
            module: ModuleId(0),
            executable: false,
            writable: false,
        };
        let map = CachedMap { pid: Pid(1), mapping, is_anonymous: true };
        let mut maps = WaitingMaps::NONE;
        assert_eq!((0..300).filter(|_| maps.push(map, &held)).count(), 256);
        assert_eq!(memory.held(), 256 * 40);
        let mut few = WaitingMaps::NONE;
        assert!(few.extend(std::iter::repeat_n(map, 30), &held));
        assert_eq!(memory.held(), (256 + 32) * 40);
        assert!((0..3).all(|_| few.push(map, &held)));
        assert_eq!(memory.held(), (256 + 64) * 40);
        assert!(!few.extend(std::iter::repeat_n(map, 224), &held));
        let list = few.take();
        assert_eq!((few.is_empty(), list.maps.len()), (true, 33));
        assert_eq!(memory.held(), (256 + 64 + 33) * 40);
        drop((maps, few, list));
        assert_eq!(memory.held(), 0);
    }
}
