//! A map with a known name, completely determined by its record alone, so that any thread can decode it ahead of time.

use address::{Avma, FileOffset, Pid};

use crate::module::MappedKind;
use crate::process::event::{MapEvent, RecordedName, end_of};
use crate::process::map_cache::{MapCache, NamedMapping};
use crate::space::Mapping;

/// A map of a process, with its module, as input of [`crate::Timeline::map_cached`].
#[derive(Clone, Copy, Debug)]
pub struct CachedMap {
    pub(in crate::process) pid: Pid,
    pub(in crate::process) mapping: Mapping,
    /// True for memory without a file, or of a file that cannot be found by name.
    pub(in crate::process) is_anonymous: bool,
}

impl CachedMap {
    /// Creates the map of an event that ends at `end`.
    #[inline]
    pub(in crate::process) fn new(event: &MapEvent<'_>, end: Avma, named: NamedMapping) -> Self {
        // The vdso is mapped from its first byte, regardless of the recorded offset.
        let offset = if named.kind == MappedKind::Vdso { FileOffset(0) } else { event.offset };
        let mapping = Mapping {
            start: event.start,
            end,
            offset,
            module: named.module,
            executable: event.executable || named.injected,
            writable: event.writable,
        };
        Self { pid: event.pid, mapping, is_anonymous: named.is_memory }
    }

    /// Returns true if nothing is inferred from it. Inferences on code without a file are recorded in time order.
    #[inline]
    pub(in crate::process) const fn may_wait(&self) -> bool {
        !(self.is_anonymous && self.mapping.executable)
    }

    /// Process of the map.
    #[must_use]
    pub const fn pid(&self) -> Pid {
        self.pid
    }
}

/// Known names in records, readable by any thread; see [`crate::Timeline::cached_names`].
#[derive(Clone, Copy, Debug)]
pub struct CachedNames<'t>(&'t MapCache);

impl<'t> CachedNames<'t> {
    pub(in crate::process) const fn new(names: &'t MapCache) -> Self {
        Self(names)
    }

    /// Returns the map of a record with an undecoded `name`; `event` has neither path nor identity.
    /// `None` if the name is unknown, if such maps need decoding each time, or if it maps nothing.
    #[must_use]
    #[inline]
    pub fn find(&self, event: &MapEvent<'_>, name: &RecordedName<'_>) -> Option<CachedMap> {
        let named = self.named(event, name)?;
        let map = CachedMap::new(event, end_of(event.start, event.len)?, named);
        map.may_wait().then_some(map)
    }

    #[inline]
    pub(in crate::process) fn named(
        &self,
        event: &MapEvent<'_>,
        name: &RecordedName<'_>,
    ) -> Option<NamedMapping> {
        let named = self.0.find_recorded(name)?;
        let is_read = match named.kind {
            // Each process has its own module for code without a file.
            MappedKind::Anonymous => event.executable,
            // 32-bit processes have a different vdso of the same name.
            MappedKind::Vdso => event.start.0 < 1 << 32,
            // The history of paths needs the first map of code of each file.
            MappedKind::File => event.executable && named.code_is_new,
            _ => false,
        };
        (!is_read && !event.kernel).then_some(named)
    }
}
