//! JIT code on the timeline: dumps are read when they are marked, and their loads are mapped at their times.

use address::{ModuleId, Pid, Timestamp};
use budget::{Exhausted, HeldMemory};
use hashbrown::HashSet;

use super::event::end_of;
use super::renewal::Renewal;
use super::timeline::Timeline;
use crate::jit_loads::{JitReader, Pending, PendingLoad};
use crate::module::{FileIdentity, MappedKind, ModuleKey};
use crate::space::Mapping;

/// Marked dumps of JIT code.
#[derive(Debug, Default)]
pub(super) struct JitCode {
    now: Timestamp,
    reader: Option<Box<dyn JitReader>>,
    pending: Pending,
    /// Modules of the dumps; `pending` refers to a dump by its index here.
    modules: Vec<ModuleId>,
    /// The same, for lookup.
    known: HashSet<ModuleId>,
    /// Files that were not dumps, by process.
    no_dumps: HashSet<(ModuleId, Pid)>,
    /// Exhausted limit, and the number of dumps that were not read because of it.
    exhausted: Option<(Exhausted, u64)>,
}

impl JitCode {
    /// Current time of the timeline.
    pub(super) const fn now(&self) -> Timestamp {
        self.now
    }

    /// Creates an empty state, charged to the account of `held`.
    pub(super) fn new(held: HeldMemory) -> Self {
        Self { pending: Pending::new(held), ..Self::default() }
    }
}

impl JitCode {
    /// Gives the dumps the modules of a renewed timeline. Dumps whose code is neither mapped nor pending are forgotten.
    pub(super) fn renew(&mut self, renewal: &mut Renewal<'_>) {
        let Self { pending, modules, known, no_dumps, .. } = self;
        let mut remaining = Vec::new();
        let is_pending = pending.dumps();
        let numbers: Vec<Option<u32>> = (modules.iter().enumerate())
            .map(|(number, &module)| {
                let module = match is_pending.contains(&(number as u32)) {
                    true => renewal.module(module),
                    false => renewal.mapped_module(module)?,
                };
                remaining.push(module);
                Some(remaining.len() as u32 - 1)
            })
            .collect();
        pending.renumber(|dump| numbers.get(dump as usize).copied().flatten());
        *known = remaining.iter().copied().collect();
        *modules = remaining;
        let files = no_dumps.drain().collect::<Vec<_>>().into_iter();
        no_dumps.extend(files.filter_map(|(id, pid)| Some((renewal.mapped_module(id)?, pid))));
    }
}

impl Timeline {
    /// Sets the reader of the JIT dumps that processes mark.
    pub fn read_jit_with(&mut self, reader: Box<dyn JitReader>) {
        self.jit.reader = Some(reader);
    }

    /// Advances the time to `now` and loads the code of dumps up to then. Cheap if there are none.
    #[inline]
    pub fn advance(&mut self, now: Timestamp) {
        self.jit.now = now;
        if !self.jit.pending.is_empty() {
            self.load_all_jit();
        }
    }

    /// Returns true if loads from dumps are pending.
    #[inline]
    pub(super) fn awaits_jit(&self) -> bool {
        !self.jit.pending.is_empty()
    }

    fn load_all_jit(&mut self) {
        while let Some(next) = self.jit.pending.next(self.jit.now) {
            self.load_jit(&next);
        }
    }

    fn load_jit(&mut self, next: &PendingLoad) {
        let PendingLoad { pid, dump, load } = *next;
        let Some(module) = self.jit.modules.get(dump as usize).copied() else { return };
        let Some(end) = end_of(load.start, load.len) else { return };
        let (start, offset) = (load.start, load.offset);
        let mapping = Mapping { start, end, offset, module, executable: true, writable: false };
        self.process(pid);
        let Self { processes, hints, journal, .. } = self;
        let Some(process) = processes.get_mut(pid) else { return };
        process.change(|made, in_force| {
            let space = made.space_mut();
            journal.add(pid, &mapping);
            space.map_jit(mapping);
            hints.apply(in_force, space, pid, start, end, journal);
        });
    }

    /// Reads a dump that a process marked.
    pub(super) fn marked(&mut self, path: &[u8], pid: Pid) {
        let Some(reader) = &self.jit.reader else { return };
        let (kind, identity) = (MappedKind::File, FileIdentity::default());
        let key = ModuleKey { path, kind, identity, owner: None, part: None };
        // A dump is mapped once by its process; a child that inherits the mapping has no record.
        let known = self.modules.find(key);
        if known.is_some_and(|module| self.jit.known.contains(&module)) {
            return;
        }
        if known.is_some_and(|module| self.jit.no_dumps.contains(&(module, pid))) {
            return;
        }
        match reader.read(path, pid) {
            Ok(Some(dump)) => {
                let module = self.modules.intern(key, None);
                let number = self.jit.modules.len() as u32;
                self.jit.modules.push(module);
                self.jit.known.insert(module);
                self.jit.pending.add(&dump, pid, number, self.jit.now);
            }
            Ok(None) => {
                // If it has no module, it is searched again next time, which takes no memory.
                self.jit.no_dumps.extend(known.map(|module| (module, pid)));
            }
            Err(exhausted) => self.jit.exhausted.get_or_insert((exhausted, 0)).1 += 1,
        }
    }

    /// Returns the limit that JIT dumps exhausted, and the number of dumps that were not read because of it.
    #[must_use]
    pub const fn jit_exhausted(&self) -> Option<(Exhausted, u64)> {
        self.jit.exhausted
    }

    /// Modules of JIT code from dumps.
    pub fn jit_modules(&self) -> impl Iterator<Item = ModuleId> {
        self.jit.modules.iter().copied()
    }
}
