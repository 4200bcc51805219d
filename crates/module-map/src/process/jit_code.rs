//! JIT code on the timeline: dumps are read when they are marked, and what they load is mapped when its time comes.

use std::sync::Arc;

use address::{ModuleId, Pid, Timestamp};

use super::event::end_of;
use super::timeline::Timeline;
use crate::jit::{JitReader, Pending, PendingLoad};
use crate::module::{FileIdentity, MappedKind, ModuleKey};
use crate::space::Mapping;

/// Dumps of JIT code that were marked.
#[derive(Debug, Default)]
pub(super) struct JitCode {
    now: Timestamp,
    reader: Option<Box<dyn JitReader>>,
    pending: Pending,
    /// The modules of the dumps; `pending` names a dump by its index here.
    modules: Vec<ModuleId>,
}

impl Timeline {
    /// Sets who reads the dumps of JIT code that processes mark.
    pub fn read_jit_with(&mut self, reader: Box<dyn JitReader>) {
        self.jit.reader = Some(reader);
    }

    /// The time has come to `now`: code that dumps load until then is there. Cheap where there are none.
    pub fn advance(&mut self, now: Timestamp) {
        self.jit.now = now;
        if !self.jit.pending.is_empty() {
            while let Some(next) = self.jit.pending.next(now) {
                self.load_jit(&next);
            }
        }
    }

    fn load_jit(&mut self, next: &PendingLoad) {
        let PendingLoad { pid, dump, load } = *next;
        let Some(module) = self.jit.modules.get(dump as usize).copied() else { return };
        let Some(end) = end_of(load.start, load.len) else { return };
        let (start, offset) = (load.start, load.offset);
        self.process(pid);
        let Some(process) = self.processes.get_mut(pid) else { return };
        let space = Arc::make_mut(&mut process.space);
        let mapping = Mapping { start, end, offset, module, executable: true, writable: false };
        self.journal.add(pid, &mapping);
        space.map_jit(mapping);
        self.hints.lay(&process.hints, space, (pid, start, end), &mut self.journal);
    }

    /// A process marked a dump of its code.
    pub(super) fn marked(&mut self, path: &[u8], pid: Pid) {
        let dump = self.jit.reader.as_ref().and_then(|reader| reader.read(path, pid));
        let Some(dump) = dump else { return };
        let (kind, identity) = (MappedKind::File, FileIdentity::default());
        let key = ModuleKey { path, kind, identity, owner: None, part: None };
        let module = self.modules.intern(key, None);
        // A dump is mapped once by its process; a child that inherits the mapping has no record of its own.
        if !self.jit.modules.contains(&module) {
            let number = self.jit.modules.len() as u32;
            self.jit.modules.push(module);
            self.jit.pending.add(&dump, pid, number, self.jit.now);
        }
    }

    /// The modules of JIT code that a dump describes.
    pub fn jit_modules(&self) -> impl Iterator<Item = ModuleId> {
        self.jit.modules.iter().copied()
    }
}
