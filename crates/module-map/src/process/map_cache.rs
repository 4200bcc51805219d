//! Modules of recent maps: most maps of a recording are of the same few files,
//! and comparing a record is faster than a lookup.

use std::sync::Arc;

use address::{ById as _, ModuleId};

use super::event::{MapEvent, RecordedName};
use crate::jit_loads::{is_injected, is_marker};
use crate::module::{FileIdentity, MappedKind, Module};

/// Properties of a map that follow from its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct NamedMapping {
    pub(super) module: ModuleId,
    pub(super) kind: MappedKind,
    /// True for memory without a file, or of a file that cannot be found by name: code in it is looked up by address.
    pub(super) is_memory: bool,
    /// True if the memory is executable regardless of its protection.
    pub(super) injected: bool,
    /// True if it marks a JIT dump.
    pub(super) marker: bool,
    /// True if no map of code of its file was recorded yet.
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

/// Number of entries.
const ENTRIES: usize = 512;

/// Names of maps, each in the only possible entry.
#[derive(Debug, Default)]
pub(super) struct MapCache {
    /// With the identity that the record states, which is only a part of the module's.
    names: Vec<Option<(FileIdentity, NamedMapping)>>,
    /// The same by undecoded names.
    recorded: Vec<Option<UndecodedEntry>>,
}

/// An undecoded name with its properties.
#[derive(Clone, Debug)]
struct UndecodedEntry {
    kind: bool,
    identity: [u8; 24],
    path: Box<[u8]>,
    named: NamedMapping,
}

/// Maximum length of a stored undecoded path.
const LONGEST: usize = 1024;

impl MapCache {
    /// Forgets everything: the same record may belong to another module from now on.
    pub(super) fn clear(&mut self) {
        self.names.clear();
        self.recorded.clear();
    }

    /// Returns the properties of an undecoded name, if it is stored.
    #[inline]
    pub(super) fn find_recorded(&self, name: &RecordedName<'_>) -> Option<NamedMapping> {
        let entry = self.recorded.get(slot_of_name(name))?.as_ref()?;
        let same = entry.kind == name.kind
            && entry.identity == *name.identity
            && *entry.path == *name.path;
        same.then_some(entry.named)
    }

    /// Stores the undecoded name of a map if its module follows from path and identity alone.
    pub(super) fn insert_recorded(
        &mut self,
        name: &RecordedName<'_>,
        event: &MapEvent<'_>,
        modules: &[Arc<Module>],
    ) {
        let Some(named) = self.find(event, modules) else { return };
        // Markers need further processing.
        if named.marker || name.path.len() > LONGEST {
            return;
        }
        self.recorded.resize(ENTRIES, None);
        if let Some(entry) = self.recorded.get_mut(slot_of_name(name)) {
            let RecordedName { kind, identity, path } = *name;
            *entry = Some(UndecodedEntry { kind, identity: *identity, path: path.into(), named });
        }
    }

    /// Returns the properties of a map of a process, if one with the same path and identity is stored.
    #[inline]
    pub(super) fn find(
        &self,
        event: &MapEvent<'_>,
        modules: &[Arc<Module>],
    ) -> Option<NamedMapping> {
        let (identity, named) = self.names.get(slot_of_map(event))?.as_ref()?;
        let path = &*modules.by_id(named.module)?.path;
        let same = *identity == event.identity && *path == *event.path;
        // Each process has its own module for code without a file.
        (same && !(named.kind == MappedKind::Anonymous && event.executable)).then_some(*named)
    }

    /// Stores the properties of a map, which must follow from path and identity alone.
    pub(super) fn insert(&mut self, event: &MapEvent<'_>, named: NamedMapping) {
        self.names.resize(ENTRIES, None);
        if let Some(entry) = self.names.get_mut(slot_of_map(event)) {
            *entry = Some((event.identity, named));
        }
    }
}

/// Entry for the name of a map.
fn slot_of_map(event: &MapEvent<'_>) -> usize {
    let inode = event.identity.inode.map_or(0, |inode| inode.number);
    let id = event.identity.build_id;
    let id = id.and_then(|id| id.as_bytes().first_chunk().copied()).map_or(0, u64::from_le_bytes);
    let end = event.path.last_chunk().copied().map_or(0, u64::from_le_bytes);
    slot(inode ^ id, end, event.path.len())
}

/// Entry for an undecoded name.
fn slot_of_name(name: &RecordedName<'_>) -> usize {
    let word = |bytes: Option<&[u8; 8]>| bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let [first, second] = [name.identity.first_chunk(), name.identity[8..].first_chunk()];
    // The path ends with padding, so its end is in its last two words.
    let before = name.path.len().checked_sub(16).and_then(|at| name.path[at..].first_chunk());
    let end = word(name.path.last_chunk()) ^ word(before).rotate_left(31);
    slot(word(first) ^ word(second), end, name.path.len())
}

fn slot(identity: u64, end: u64, len: usize) -> usize {
    let mixed = identity.rotate_left(23) ^ end ^ len as u64;
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - ENTRIES.ilog2())) as usize
}
