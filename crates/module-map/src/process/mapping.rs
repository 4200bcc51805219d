//! Maps on the timeline: what a record maps, and what becomes of the space of its process.

use std::sync::Arc;

use address::{Avma, FileOffset, ModuleId, Pid};

use super::infer::{Files, infer};
use super::recent::Named;
use super::{Inference, MapEvent, Timeline, end_of};
use crate::module::ModuleKey;
use crate::module::{FileIdentity, Inode, ModuleKind};
use crate::module::{is_archive, kernel_name, kind_of};
use crate::space::Piece;

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
        let named = match self.recent.find(event, self.modules.all()) {
            Some(named) => named,
            None => self.name(event),
        };
        // The vdso is mapped from its first byte, whatever recorders write as its offset.
        let offset = if named.kind == ModuleKind::Vdso { FileOffset(0) } else { event.offset };
        let piece = Piece {
            start: event.start,
            end,
            offset,
            module: named.module,
            executable: event.executable || named.injected,
            writable: event.writable,
        };
        self.lay(event.pid, piece, named.kind);
        if named.marker && named.kind == ModuleKind::File && event.executable {
            self.marked(event.path, event.pid);
        }
    }

    fn map_kernel(&mut self, event: &MapEvent<'_>, end: Avma) {
        let (path, reference) = kernel_name(event.path);
        if let Some(symbol) = reference.filter(|_| event.offset.0 != 0) {
            self.kernel_reference.get_or_insert_with(|| (symbol.into(), Avma(event.offset.0)));
        }
        let (kind, identity) = (ModuleKind::Kernel, self.identity(path, event.identity));
        let key = ModuleKey { path, kind, identity, owner: None, part: None };
        let module = self.modules.intern(key, None);
        Arc::make_mut(&mut self.kernel).map(Piece {
            start: event.start,
            end,
            offset: event.offset,
            module,
            executable: true,
            writable: event.writable,
        });
    }

    /// Puts a piece into the space of a process.
    fn lay(&mut self, pid: Pid, piece: Piece, kind: ModuleKind) {
        let Some(process) = self.processes.get_mut(&pid) else {
            self.meet(pid);
            if self.processes.contains_key(&pid) {
                self.lay(pid, piece, kind);
            }
            return;
        };
        if kind == ModuleKind::Anonymous {
            let files = Files { modules: self.modules.all(), hints: &self.hints };
            let code = infer(process, &piece, files);
            if let Some(code) = code {
                self.journal.add(pid, &code);
                self.inferences.push(Inference::new(pid, &code));
            }
            let piece = code.unwrap_or(piece);
            let space = Arc::make_mut(&mut process.space);
            // JIT code outlives records about the memory that it is in: a change of its protection makes one.
            let jit: Vec<Piece> = if self.jit_modules.is_empty() {
                Vec::new()
            } else {
                let is_jit = |piece: &&Piece| self.jit_modules.contains(&piece.module);
                space.overlapping(piece.start, piece.end).filter(is_jit).copied().collect()
            };
            space.map(piece);
            for piece in jit {
                self.journal.add(pid, &piece);
                space.map(piece);
            }
        } else {
            Arc::make_mut(&mut process.space).map(piece);
        }
        if !process.hints.is_empty() {
            let space = Arc::make_mut(&mut process.space);
            let place = (pid, piece.start, piece.end);
            self.hints.lay(&process.hints, space, place, &mut self.journal);
        }
    }

    /// What a map of a process is of, in full.
    fn name(&mut self, event: &MapEvent<'_>) -> Named {
        let kind = kind_of(event.path);
        let module = self.module(kind, event);
        let named = Named::new(module, kind, event.path);
        let by_name = kind != ModuleKind::Anonymous || !event.executable;
        if by_name && !is_archive(event.path) {
            self.recent.keep(event, named);
        }
        named
    }

    fn module(&mut self, kind: ModuleKind, event: &MapEvent<'_>) -> ModuleId {
        let path = event.path;
        let identity =
            if kind == ModuleKind::Anonymous { FileIdentity::default() } else { event.identity };
        let identity = self.identity(path, identity);
        // Code in memory without a file belongs to its process: the same address means something else in another.
        let owner = (kind == ModuleKind::Anonymous && event.executable).then_some(event.pid);
        let part = (kind == ModuleKind::File && is_archive(path)).then_some(event.offset);
        let key = ModuleKey { path, kind, identity, owner, part };
        let n_known = self.modules.all().len();
        let module = self.modules.intern(key, Some((event.pid, event.start)));
        if let Some(inode) = identity.inode.filter(|_| {
            kind == ModuleKind::File && event.executable && self.modules.all().len() > n_known
        }) {
            let before = self.files.insert(path.into(), inode);
            self.saw_replaced_file |= before.is_some_and(|before: Inode| inode.replaces(before));
        }
        module
    }

    /// Which file it is, with what was told of the path.
    fn identity(&self, path: &[u8], stated: FileIdentity) -> FileIdentity {
        let mut identity = stated;
        if identity.build_id.is_none() {
            let last = self.last_files.get(path).zip(identity.inode);
            identity.replaced = last.is_some_and(|(last, inode)| last.replaces(inode));
            identity.build_id = self.listed_ids.get(path).copied().filter(|_| !identity.replaced);
        }
        identity
    }
}
