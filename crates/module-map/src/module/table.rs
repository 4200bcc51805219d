//! Table of distinct modules; lookups do not copy the path.

use std::hash::BuildHasher as _;
use std::sync::Arc;

use address::{Avma, FileOffset, ModuleId, Pid};
use budget::HeldMemory;
use hashbrown::{DefaultHashBuilder, HashTable};

use super::{FileIdentity, MappedKind, Module, Modules, TimelineId};

/// Distinct modules in order of first appearance.
#[derive(Debug, Default)]
pub(crate) struct ModuleTable {
    modules: Vec<Arc<Module>>,
    /// The same modules, for spaces.
    shared: Arc<Modules>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
    timeline: TimelineId,
    held: HeldMemory,
}

/// Accounted bytes of a module besides its path: its row, and its table entries.
const MODULE: usize = size_of::<Module>() + 72;

/// Key of a module: maps with equal keys share a module.
#[derive(PartialEq, Eq, Hash, Clone, Copy)]
pub(crate) struct ModuleKey<'a> {
    pub(crate) path: &'a [u8],
    pub(crate) kind: MappedKind,
    pub(crate) identity: FileIdentity,
    pub(crate) owner: Option<Pid>,
    pub(crate) part: Option<FileOffset>,
}

impl<'a> From<&'a Module> for ModuleKey<'a> {
    fn from(module: &'a Module) -> Self {
        Self {
            path: &module.path,
            kind: module.kind,
            identity: module.identity,
            owner: module.owner,
            part: module.part,
        }
    }
}

impl ModuleTable {
    /// Creates an empty table, charged to the account of `held`.
    pub(crate) fn new(held: HeldMemory) -> Self {
        Self { held, ..Self::default() }
    }

    /// Returns the module of a key, making it if needed; `first` is its first process and address.
    pub(crate) fn intern(&mut self, key: ModuleKey<'_>, first: Option<(Pid, Avma)>) -> ModuleId {
        self.intern_inherited(key, first, None)
    }

    /// Does the same for memory that a process inherited by a fork; `inherited_from` is the parent's module.
    pub(crate) fn intern_inherited(
        &mut self,
        key: ModuleKey<'_>,
        first: Option<(Pid, Avma)>,
        inherited_from: Option<ModuleId>,
    ) -> ModuleId {
        let Self { modules, shared, index, hasher, timeline, held } = self;
        let of = |&at: &u32| modules.get(at as usize).map(|module| ModuleKey::from(&**module));
        let hash = hasher.hash_one(key);
        if let Some(module) =
            index.find(hash, |at| of(at) == Some(key)).and_then(|&at| modules.get(at as usize))
        {
            return module.id;
        }
        let id = u32::try_from(modules.len()).unwrap_or(u32::MAX);
        index.insert_unique(hash, id, |at| of(at).map_or(0, |key| hasher.hash_one(key)));
        let module = Arc::new(Module {
            id: ModuleId(id),
            path: key.path.into(),
            kind: key.kind,
            identity: key.identity,
            owner: key.owner,
            inherited_from,
            part: key.part,
            first_mapped: first,
            timeline: *timeline,
        });
        // The index of files by path may store the path once more.
        held.add((MODULE + 2 * key.path.len()) as u64);
        modules.push(shared.get_or_init(module.id, || module).clone());
        ModuleId(id)
    }

    /// Returns the module of a key, if it exists.
    pub(crate) fn find(&self, key: ModuleKey<'_>) -> Option<ModuleId> {
        let of = |&at: &u32| {
            self.modules.get(at as usize).map(|module| ModuleKey::from(&**module)) == Some(key)
        };
        self.index.find(self.hasher.hash_one(key), of).map(|&at| ModuleId(at))
    }

    /// All modules; a module's id is its index.
    pub(crate) fn all(&self) -> &[Arc<Module>] {
        &self.modules
    }

    /// The table of all modules, including later ones.
    pub(crate) const fn shared(&self) -> &Arc<Modules> {
        &self.shared
    }
}
