//! Hints on the timeline: they are in force from the beginning of a process image.

use std::sync::Arc;

use address::{BuildId, FileOffset, Pid};

use super::active_hints::{InForce, add_layers};
use crate::module::ModuleKey;
use crate::module::{FileIdentity, MappedKind};
use crate::process::processes::Process;
use crate::process::timeline::Timeline;
use crate::process::waiting::LazySpace;
use crate::space::Mapping;
use options::Hint;

impl Timeline {
    /// Adds a hint: its range holds bytes of `object` from `offset` on; the object's build-id is `build_id`.
    /// Call it before any event.
    pub fn hint(&mut self, hint: &Hint, build_id: Option<BuildId>, offset: FileOffset) {
        use std::os::unix::ffi::OsStrExt as _;
        let key = ModuleKey {
            path: hint.object.as_os_str().as_bytes(),
            kind: MappedKind::File,
            identity: FileIdentity { build_id, ..FileIdentity::default() },
            owner: None,
            part: None,
        };
        let module = self.modules.intern(key, None);
        self.hints.push(&hint.scope, hint.start, hint.end(), offset, module);
    }

    /// Starts a journal of the mappings that are known besides the recorded maps.
    pub fn start_journal(&mut self) {
        self.journal.on = true;
    }

    /// Returns the journal's rows since the last call: processes and mappings, in order of their effect.
    pub fn take_journal(&mut self) -> Vec<(Pid, Mapping)> {
        std::mem::take(&mut self.journal.rows)
    }

    /// Returns the first space of a process image, with the hints in force in it.
    pub(in crate::process) fn begin(
        &mut self,
        pid: Pid,
        comm: &[u8],
        mut space: Arc<LazySpace>,
        inherited: InForce,
    ) -> Process {
        let image = self.processes.new_image();
        if self.hints.is_empty() {
            return Process::new(space, image);
        }
        let mut in_force = inherited;
        let own = self.hints.own(pid, comm);
        if Arc::ptr_eq(&space, self.processes.empty()) && in_force.is_empty() {
            space = self.hints.base(pid, comm, &space);
            in_force = own;
            self.hints.note(&in_force, pid, &mut self.journal);
        } else {
            let fresh = add_layers(&mut in_force, own);
            let Self { hints, journal, .. } = self;
            for layer in &fresh {
                LazySpace::change(&mut space, |made| {
                    hints.begin(layer, &in_force, made.space_mut(), pid, journal);
                });
            }
        }
        let mut process = Process::new(space, image);
        process.hints = in_force;
        process
    }

    /// Renames a process, which activates hints for that name.
    pub(in crate::process) fn renamed(&mut self, pid: Pid, name: &[u8]) {
        // A new process starts with its hints.
        self.process(pid);
        let own = self.hints.own(pid, name);
        let Self { processes, hints, journal, .. } = self;
        let Some(process) = processes.get_mut(pid) else { return };
        let mut in_force = std::mem::take(&mut process.hints);
        let fresh = add_layers(&mut in_force, own);
        if !fresh.is_empty() {
            process.change(|made, _| {
                for layer in &fresh {
                    hints.begin(layer, &in_force, made.space_mut(), pid, journal);
                }
            });
        }
        process.hints = in_force;
    }
}
