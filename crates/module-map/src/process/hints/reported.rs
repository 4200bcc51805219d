//! What the user said about memory, on the timeline: hints are in force from the beginning of a process image.

use std::sync::Arc;

use address::{BuildId, FileOffset, Pid};

use super::laid_hints::{InForce, add_layers};
use crate::module::ModuleKey;
use crate::module::{FileIdentity, MappedKind};
use crate::process::processes::Process;
use crate::process::timeline::Timeline;
use crate::process::waiting::LazySpace;
use crate::space::Mapping;
use options::Hint;

impl Timeline {
    /// Takes in what the user knows of a range of memory: from here on the range holds bytes of `object`, whose build-id
    /// is `build_id`, from `offset` on. To be called before anything happens.
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

    /// Begins a journal of the mappings that are known beyond the recorded maps.
    pub fn keep_journal(&mut self) {
        self.journal.on = true;
    }

    /// What the journal got since it was asked last: processes and mappings, in the order in which they took effect.
    pub fn take_journal(&mut self) -> Vec<(Pid, Mapping)> {
        std::mem::take(&mut self.journal.rows)
    }

    /// The first space of a process image, with the hints that are in force in it.
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

    /// A process took another name: hints for that name come into force.
    pub(in crate::process) fn renamed(&mut self, pid: Pid, name: &[u8]) {
        // It begins with its hints if it is new.
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
