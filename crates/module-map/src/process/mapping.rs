//! Maps on the timeline: what a record maps, and what becomes of the space of its process.

use std::sync::Arc;

use address::{Avma, FileOffset, ModuleId, Pid};

use super::event::{MapEvent, RecordedName, end_of};
use super::infer::{Inference, KnownFiles, infer};
use super::recent::NamedMapping;
use super::timeline::Timeline;
use crate::module::ModuleKey;
use crate::module::{FileIdentity, MappedKind};
use crate::module::{is_archive, kernel_name, kind_of};
use crate::space::Mapping;

/// The vdso of processes of 32 bits, where those of 64 have another one of the same name: the kernel maps that above 4 GiB.
///
/// Source: `map_vdso_once` and `vdso_addr` in `arch/x86/entry/vdso/vma.c`; the name is that of perf (`DSO__NAME_VDSO32`).
fn with_own_vdso(event: MapEvent<'_>) -> MapEvent<'_> {
    let is_narrow = event.path == b"[vdso]" && event.start.0 < 1 << 32;
    if is_narrow { MapEvent { path: b"[vdso32]", ..event } } else { event }
}

impl Timeline {
    /// A mapping came into being.
    pub fn map(&mut self, event: &MapEvent<'_>) {
        let Some(end) = end_of(event.start, event.len) else {
            self.unmappable += 1;
            return;
        };
        if event.kernel {
            self.map_kernel(event, end);
            return;
        }
        let event = &with_own_vdso(*event);
        let named = match self.recent.find(event, self.modules.all()) {
            Some(named) => named,
            None => self.name(event),
        };
        self.map_named(event, end, named);
        if named.marker && named.kind == MappedKind::File && event.executable {
            self.marked(event.path, event.pid);
        }
    }

    /// A mapping of a process came into being whose record was not read but for its place; `event` has no path and no
    /// identity, since `name` is what stands there. It costs much less than [`Self::map`].
    ///
    /// `false`, and nothing happens, where the name is not known: [`Self::map`] takes the map, and
    /// [`Self::keep_name`] the name for the next time.
    #[must_use]
    pub fn map_again(&mut self, event: &MapEvent<'_>, name: &RecordedName<'_>) -> bool {
        let Some(named) = self.recent.find_recorded(name) else { return false };
        // Code without a file is a module of each process.
        if named.kind == MappedKind::Anonymous && event.executable || event.kernel {
            return false;
        }
        match end_of(event.start, event.len) {
            Some(end) => self.map_named(event, end, named),
            None => self.unmappable += 1,
        }
        true
    }

    /// What a map that was taken is called in its record.
    pub fn keep_name(&mut self, event: &MapEvent<'_>, name: &RecordedName<'_>) {
        self.recent.keep_recorded(name, event, self.modules.all());
    }

    fn map_named(&mut self, event: &MapEvent<'_>, end: Avma, named: NamedMapping) {
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
        self.lay(event.pid, mapping, named.kind);
    }

    fn map_kernel(&mut self, event: &MapEvent<'_>, end: Avma) {
        let (path, reference) = kernel_name(event.path);
        if let Some(symbol) = reference.filter(|_| event.offset.0 != 0) {
            self.kernel.refer(symbol, Avma(event.offset.0));
        }
        let kind = MappedKind::Kernel;
        let identity = self.file_history.identity(path, event.identity);
        let key = ModuleKey { path, kind, identity, owner: None, part: None };
        let module = self.modules.intern(key, None);
        self.kernel.map(Mapping {
            start: event.start,
            end,
            offset: event.offset,
            module,
            executable: true,
            writable: event.writable,
        });
    }

    /// Puts a mapping into the space of a process, at once or when somebody asks for that space.
    fn lay(&mut self, pid: Pid, mapping: Mapping, kind: MappedKind) {
        let Some((process, held)) = self.processes.get_with_held(pid) else {
            self.discover(pid);
            if self.processes.contains(pid) {
                self.lay(pid, mapping, kind);
            }
            return;
        };
        let is_anonymous = kind == MappedKind::Anonymous;
        // What is inferred of code is noted in the order of time, as is all that a journal or hints are about.
        let may_wait =
            !(is_anonymous && mapping.executable) && self.hints.is_empty() && !self.journal.on;
        if !may_wait || !process.waiting.push(mapping, is_anonymous, held) {
            self.lay_now(pid, mapping, is_anonymous);
        }
    }

    /// Puts a mapping into the space of a process, over those that waited.
    fn lay_now(&mut self, pid: Pid, mapping: Mapping, is_anonymous: bool) {
        let Self { processes, modules, hints, journal, inferences, .. } = self;
        let files = KnownFiles { modules: modules.all(), hints };
        let process = processes.get_or_new(pid);
        process.settle(files);
        if is_anonymous {
            let code = infer(process, &mapping, files);
            if let Some(code) = code {
                journal.add(pid, &code);
                inferences.push(Inference::new(pid, &code));
            }
            let mapping = code.unwrap_or(mapping);
            let space = Arc::make_mut(&mut process.space);
            // JIT code outlives records about the memory that it is in: a change of its protection makes one.
            space.map_below_jit(mapping);
            if journal.on {
                let jit = space.jit_code(mapping.start, mapping.end);
                jit.for_each(|mapping| journal.add(pid, &mapping));
            }
        } else {
            Arc::make_mut(&mut process.space).map(mapping);
        }
        if !process.hints.is_empty() {
            let space = Arc::make_mut(&mut process.space);
            hints.lay(&process.hints, space, (pid, mapping.start, mapping.end), journal);
        }
    }

    /// What a map of a process is of, in full.
    fn name(&mut self, event: &MapEvent<'_>) -> NamedMapping {
        let kind = kind_of(event.path);
        let module = self.module(kind, event);
        let named = NamedMapping::new(module, kind, event.path);
        let by_name = kind != MappedKind::Anonymous || !event.executable;
        if by_name && !is_archive(event.path) {
            self.recent.keep(event, named);
        }
        named
    }

    fn module(&mut self, kind: MappedKind, event: &MapEvent<'_>) -> ModuleId {
        let path = event.path;
        let identity =
            if kind == MappedKind::Anonymous { FileIdentity::default() } else { event.identity };
        let identity = self.file_history.identity(path, identity);
        // Code in memory without a file belongs to its process: the same address means something else in another.
        let owner = (kind == MappedKind::Anonymous && event.executable).then_some(event.pid);
        let part = (kind == MappedKind::File && is_archive(path)).then_some(event.offset);
        let key = ModuleKey { path, kind, identity, owner, part };
        let n_known = self.modules.all().len();
        let module = self.modules.intern(key, Some((event.pid, event.start)));
        if let Some(inode) = identity.inode.filter(|_| {
            kind == MappedKind::File && event.executable && self.modules.all().len() > n_known
        }) {
            self.file_history.mapped(path, inode);
        }
        module
    }
}
