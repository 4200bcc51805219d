//! The modules of recent maps: most maps of a recording are of the same few files, and what a record says of them is
//! compared faster than it is looked up.

use std::sync::Arc;

use address::{ById as _, ModuleId};

use super::event::{MapEvent, RecordedName};
use crate::jit_loads::{is_injected, is_marker};
use crate::module::{FileIdentity, MappedKind, Module};

/// What the name of a map says.
#[derive(Clone, Copy, Debug)]
pub(super) struct NamedMapping {
    pub(super) module: ModuleId,
    pub(super) kind: MappedKind,
    /// It is memory without a file, or of a file whose name leads nowhere: code in it is found by address.
    pub(super) is_memory: bool,
    /// It is the name of memory that is executable whatever its protection is.
    pub(super) injected: bool,
    /// It marks a dump of code.
    pub(super) marker: bool,
    /// The next map of code of its file is to be noted: none was noted yet.
    pub(super) code_is_new: bool,
}

impl NamedMapping {
    pub(super) fn new(module: ModuleId, kind: MappedKind, path: &[u8]) -> Self {
        let code_is_new = kind == MappedKind::File;
        let is_memory = kind == MappedKind::Anonymous;
        let (injected, marker) = (is_injected(path), is_marker(path));
        Self { module, kind, is_memory, injected, marker, code_is_new }
    }
}

/// How many are kept.
const KEPT: usize = 512;

/// Names of maps, each at the one place that it can be at.
#[derive(Debug, Default)]
pub(super) struct RecentModules {
    /// With the identity that the record states, which is not all that the module's is made of.
    names: Vec<Option<(FileIdentity, NamedMapping)>>,
    /// The same by what stands in the records.
    recorded: Vec<Option<Recorded>>,
}

/// What a name in a record stands for.
#[derive(Clone, Debug)]
struct Recorded {
    kind: bool,
    identity: [u8; 24],
    path: Box<[u8]>,
    named: NamedMapping,
}

/// No longer path is kept as it stands in a record.
const LONGEST: usize = 1024;

impl RecentModules {
    /// Forgets all: the same record may be of another module from here on.
    pub(super) fn clear(&mut self) {
        self.names.clear();
        self.recorded.clear();
    }

    /// What a name in a record stands for, where it came before.
    #[inline]
    pub(super) fn find_recorded(&self, name: &RecordedName<'_>) -> Option<NamedMapping> {
        let known = self.recorded.get(place_of(name))?.as_ref()?;
        let same = known.kind == name.kind
            && known.identity == *name.identity
            && *known.path == *name.path;
        same.then_some(known.named)
    }

    /// Keeps what a map of that name is of, where that follows from nothing but its path and its identity.
    pub(super) fn keep_recorded(
        &mut self,
        name: &RecordedName<'_>,
        event: &MapEvent<'_>,
        modules: &[Arc<Module>],
    ) {
        let Some(named) = self.find(event, modules) else { return };
        // Of a marker is more to be seen to.
        if named.marker || name.path.len() > LONGEST {
            return;
        }
        self.recorded.resize(KEPT, None);
        if let Some(place) = self.recorded.get_mut(place_of(name)) {
            let RecordedName { kind, identity, path } = *name;
            *place = Some(Recorded { kind, identity: *identity, path: path.into(), named });
        }
    }

    /// What a map of a process is of, where one of the same path and identity came before.
    #[inline]
    pub(super) fn find(
        &self,
        event: &MapEvent<'_>,
        modules: &[Arc<Module>],
    ) -> Option<NamedMapping> {
        let (identity, named) = self.names.get(place(event))?.as_ref()?;
        let path = &*modules.by_id(named.module)?.path;
        let same = *identity == event.identity && *path == *event.path;
        // Code without a file is a module of each process.
        (same && !(named.kind == MappedKind::Anonymous && event.executable)).then_some(*named)
    }

    /// Keeps what a map is of. It must follow from nothing but its path and its identity.
    pub(super) fn keep(&mut self, event: &MapEvent<'_>, named: NamedMapping) {
        self.names.resize(KEPT, None);
        if let Some(place) = self.names.get_mut(place(event)) {
            *place = Some((event.identity, named));
        }
    }
}

/// Where the name of a map is kept.
fn place(event: &MapEvent<'_>) -> usize {
    let inode = event.identity.inode.map_or(0, |inode| inode.number);
    let id = event.identity.build_id;
    let id = id.and_then(|id| id.as_bytes().first_chunk().copied()).map_or(0, u64::from_le_bytes);
    let end = event.path.last_chunk().copied().map_or(0, u64::from_le_bytes);
    place_by(inode ^ id, end, event.path.len())
}

/// Where what a name stands for is kept.
fn place_of(name: &RecordedName<'_>) -> usize {
    let word = |bytes: Option<&[u8; 8]>| bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let [first, second] = [name.identity.first_chunk(), name.identity[8..].first_chunk()];
    // The path ends with what fills it up, so its end is in its last two words.
    let before = name.path.len().checked_sub(16).and_then(|at| name.path[at..].first_chunk());
    let end = word(name.path.last_chunk()) ^ word(before).rotate_left(31);
    place_by(word(first) ^ word(second), end, name.path.len())
}

fn place_by(identity: u64, end: u64, len: usize) -> usize {
    let mixed = identity.rotate_left(23) ^ end ^ len as u64;
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - KEPT.ilog2())) as usize
}
