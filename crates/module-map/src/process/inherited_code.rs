//! Code without a file after a fork: parent and child continue to compile, each into its own copy of the memory.

use address::{ById as _, Pid, Timestamp};

use super::processes::Process;
use super::timeline::Timeline;
use crate::module::{ModuleKey, ModuleTable};
use crate::space::Mapping;

impl Timeline {
    /// Sets the start of a process, or of its program, to the current time.
    pub(super) fn began(&mut self, pid: Pid) {
        let now = self.jit.now();
        if let Some(process) = self.processes.get_mut(pid) {
            process.began = now;
        }
    }

    /// Start of a process or of its program; `None` if that was before the recording, or if the process is forgotten.
    #[must_use]
    pub fn began_at(&self, pid: Pid) -> Option<Timestamp> {
        self.processes.get(pid).map(|process| process.began).filter(|began| began.0 != 0)
    }
}

/// Gives a process its own modules for code inherited by a fork.
/// Done when its first sample is planned, because most children execute a program before.
#[cold]
pub(super) fn own_code(process: &mut Process, modules: &mut ModuleTable, pid: Pid) {
    process.inherits_code = false;
    process.change(|made, _| {
        let space = made.space_mut();
        let inherited: Vec<Mapping> = space.mappings().collect();
        for mapping in inherited {
            let Some(parent) = modules.all().by_id(mapping.module).cloned() else { continue };
            if parent.owner.is_none_or(|owner| owner == pid) {
                continue;
            }
            let key = ModuleKey { owner: Some(pid), ..ModuleKey::from(&*parent) };
            let first = Some((pid, mapping.start));
            let module = modules.intern_inherited(key, first, Some(parent.id));
            space.map(Mapping { module, ..mapping });
        }
    });
}
