//! A map of which all is known before its turn comes: what its record says is mapped was seen before, so that it can be
//! read on any thread.

use address::{Avma, FileOffset, Pid};

use crate::module::MappedKind;
use crate::process::event::{MapEvent, RecordedName, end_of};
use crate::process::recent::{NamedMapping, RecentModules};
use crate::space::Mapping;

/// A map of a process, with the module that it is of; [`crate::Timeline::map_known`] takes it.
#[derive(Clone, Copy, Debug)]
pub struct KnownMap {
    pub(in crate::process) pid: Pid,
    pub(in crate::process) mapping: Mapping,
    /// It is memory without a file, or of a file whose name leads nowhere.
    pub(in crate::process) is_anonymous: bool,
}

impl KnownMap {
    /// The map of an event, which ends at `end`.
    #[inline]
    pub(in crate::process) fn new(event: &MapEvent<'_>, end: Avma, named: NamedMapping) -> Self {
        // The vdso is mapped from its first byte, whatever recorders write as its offset.
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

    /// Whether nothing is inferred of it. What is inferred of code without a file is noted in the order of time.
    #[inline]
    pub(in crate::process) const fn may_wait(&self) -> bool {
        !(self.is_anonymous && self.mapping.executable)
    }

    /// The process that it is in.
    #[must_use]
    pub const fn pid(&self) -> Pid {
        self.pid
    }
}

/// What names in records stand for, to be asked by any thread; see [`crate::Timeline::known_names`].
#[derive(Clone, Copy, Debug)]
pub struct KnownNames<'t>(&'t RecentModules);

impl<'t> KnownNames<'t> {
    pub(in crate::process) const fn new(names: &'t RecentModules) -> Self {
        Self(names)
    }

    /// The map of an event without path and identity, in whose record `name` stands; `None` where the name is not known,
    /// where the map is to be read each time, and where it maps nothing.
    #[must_use]
    #[inline]
    pub fn find(&self, event: &MapEvent<'_>, name: &RecordedName<'_>) -> Option<KnownMap> {
        let named = self.named(event, name)?;
        let map = KnownMap::new(event, end_of(event.start, event.len)?, named);
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
            // Code without a file is a module of each process.
            MappedKind::Anonymous => event.executable,
            // Processes of 32 bits have another one of the same name.
            MappedKind::Vdso => event.start.0 < 1 << 32,
            // The history of paths has the files whose code was mapped.
            MappedKind::File => event.executable && named.code_is_new,
            _ => false,
        };
        (!is_read && !event.kernel).then_some(named)
    }
}
