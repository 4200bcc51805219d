//! Maps of a process that wait until somebody asks for its space. Most processes of a build end without a sample, and
//! nobody ever asks for theirs.

use budget::Held;

use crate::space::Mapping;

/// So many maps wait at most: those of a hostile recording must not take more than the space that they make.
const MOST: usize = 256;
/// There is room for so many at first.
const FIRST: usize = 32;

/// Maps that were recorded and are not in the space yet, in their order.
#[derive(Debug)]
pub(super) struct WaitingMaps {
    /// With whether they are of memory without a file.
    maps: Vec<(Mapping, bool)>,
    held: Held,
}

impl WaitingMaps {
    /// No map.
    pub(super) const NONE: Self = Self { maps: Vec::new(), held: Held::NOWHERE };

    pub(super) const fn is_empty(&self) -> bool {
        self.maps.is_empty()
    }

    /// Adds a map, unless too many wait. What they take is held as `held` is.
    pub(super) fn push(&mut self, mapping: Mapping, is_anonymous: bool, held: &Held) -> bool {
        let room = self.maps.capacity();
        if room == 0 {
            self.maps.reserve_exact(FIRST);
            self.held = held.another(0);
        } else if self.maps.len() == MOST {
            return false;
        }
        self.maps.push((mapping, is_anonymous));
        if self.maps.capacity() != room {
            self.held.set((self.maps.capacity() * size_of::<(Mapping, bool)>()) as u64);
        }
        true
    }

    /// Takes all of them out.
    pub(super) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::NONE)
    }

    /// The maps, each with whether it is of memory without a file.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Mapping, bool)> {
        self.maps.iter().copied()
    }
}
