//! Maps on the timeline: what a record maps, and what becomes of the space of its process.

use std::sync::Arc;

use address::{Avma, FileOffset, ModuleId, Pid};

use super::event::{MapEvent, end_of};
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
        if named.marker && named.kind == MappedKind::File && event.executable {
            self.marked(event.path, event.pid);
        }
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

    /// Puts a mapping into the space of a process.
    fn lay(&mut self, pid: Pid, mapping: Mapping, kind: MappedKind) {
        let Some(process) = self.processes.get_mut(pid) else {
            self.discover(pid);
            if self.processes.contains(pid) {
                self.lay(pid, mapping, kind);
            }
            return;
        };
        if kind == MappedKind::Anonymous {
            let files = KnownFiles { modules: self.modules.all(), hints: &self.hints };
            let code = infer(process, &mapping, files);
            if let Some(code) = code {
                self.journal.add(pid, &code);
                self.inferences.push(Inference::new(pid, &code));
            }
            let mapping = code.unwrap_or(mapping);
            let space = Arc::make_mut(&mut process.space);
            // JIT code outlives records about the memory that it is in: a change of its protection makes one.
            space.map_below_jit(mapping);
            if self.journal.on {
                let jit = space.jit_code(mapping.start, mapping.end);
                jit.for_each(|mapping| self.journal.add(pid, &mapping));
            }
        } else {
            Arc::make_mut(&mut process.space).map(mapping);
        }
        if !process.hints.is_empty() {
            let space = Arc::make_mut(&mut process.space);
            let place = (pid, mapping.start, mapping.end);
            self.hints.lay(&process.hints, space, place, &mut self.journal);
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
