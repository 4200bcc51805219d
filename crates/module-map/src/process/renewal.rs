//! Renewal of the timeline of a recording that lasts for hours: what no process maps any more is forgotten.

use std::sync::Arc;

use address::{ById as _, ModuleId};
use budget::HeldMemory;
use hashbrown::{HashMap, HashSet};

use super::timeline::Timeline;
use super::waiting::{BuiltSpace, LazySpace};
use crate::module::{Module, ModuleKey, ModuleTable, path_on_disk};
use crate::space::{Mapping, Space};

impl Timeline {
    /// Forgets modules, files and threads that no process has any more. The remaining modules get new ids on a new
    /// [`TimelineId`](crate::TimelineId); processes and their spaces stay as they are.
    ///
    /// Ids and spaces from before must not be used with the timeline afterwards.
    pub fn renew(&mut self) {
        let held = self.processes.held();
        let old = std::mem::replace(&mut self.modules, ModuleTable::new(held.another(0)));
        let mut renewal = Renewal {
            old: old.all(),
            new: &mut self.modules,
            ids: HashMap::new(),
            spaces: HashMap::new(),
            held: &held,
        };
        self.processes.renew(&mut renewal);
        renewal.shared_space(&mut self.kernel.space);
        self.guests.renew(&mut renewal);
        self.hints.renew(&mut renewal);
        self.jit.renew(&mut renewal);
        self.map_cache.clear();
        self.inferences.clear();
        let paths: HashSet<&[u8]> =
            self.modules.all().iter().map(|module| path_on_disk(&module.path)).collect();
        self.file_history.retain(|path| paths.contains(path));
        self.comms.forget_ended();
    }
}

/// The modules of a renewed timeline, which are found by those of the former one.
pub(super) struct Renewal<'r> {
    old: &'r [Arc<Module>],
    new: &'r mut ModuleTable,
    ids: HashMap<ModuleId, ModuleId>,
    /// New spaces by the addresses of the former ones, which are retained so that addresses are unique.
    spaces: HashMap<*const LazySpace, (Arc<LazySpace>, Arc<LazySpace>)>,
    held: &'r HeldMemory,
}

impl Renewal<'_> {
    /// Returns the new id of a module.
    pub(super) fn module(&mut self, id: ModuleId) -> ModuleId {
        if let Some(&known) = self.ids.get(&id) {
            return known;
        }
        // Every id is one of the former table.
        let Some(module) = self.old.by_id(id) else { return id };
        // A parent's module has a lower id, so this ends.
        let parent = module.inherited_from.filter(|parent| *parent < id);
        let parent = parent.map(|parent| self.module(parent));
        let key = ModuleKey::from(&**module);
        let new = self.new.intern_inherited(key, module.first_mapped, parent);
        self.ids.insert(id, new);
        new
    }

    /// Returns the new id of a module that is mapped somewhere; call it after all spaces are renewed.
    pub(super) fn mapped_module(&self, id: ModuleId) -> Option<ModuleId> {
        self.ids.get(&id).copied()
    }

    /// Gives a space the new modules.
    pub(super) fn shared_space(&mut self, space: &mut Arc<Space>) {
        let (modules, held) = (self.new.shared().clone(), self.held);
        *space = Arc::new(space.in_table(&modules, held, &mut |id| self.module(id)));
    }

    /// Does the same for the space of a process. Processes that shared a space share the new one.
    pub(super) fn space(&mut self, space: &mut Arc<LazySpace>) {
        if let Some((_, new)) = self.spaces.get(&Arc::as_ptr(space)) {
            *space = new.clone();
            return;
        }
        let BuiltSpace { space: made, covered } = space.built();
        let mut made = made.clone();
        self.shared_space(&mut made);
        let renewed =
            |mapping: &Mapping| Mapping { module: self.module(mapping.module), ..*mapping };
        let covered = covered.iter().map(renewed).collect();
        let new = Arc::new(LazySpace::of(BuiltSpace { space: made, covered }));
        let old = std::mem::replace(space, new.clone());
        self.spaces.insert(Arc::as_ptr(&old), (old, new));
    }
}
