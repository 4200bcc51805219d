//! Maps on the timeline: what a record maps, and what becomes of the space of its process.

use address::{Avma, ModuleId, Pid, Timestamp};

use super::event::{MapEvent, RecordedName, end_of};
use super::infer::{Inference, infer};
use super::recent::NamedMapping;
use super::timeline::Timeline;
use super::waiting::{KnownMap, KnownNames};
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
        let known = self.recent.find(event, self.modules.all());
        let mut named = known.unwrap_or_else(|| self.name(event));
        if event.executable && named.code_is_new {
            named.code_is_new = false;
            self.map_code_first(event, named);
        }
        self.map_known(&KnownMap::new(event, end, named));
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
        let Some(named) = self.known_names().named(event, name) else { return false };
        match end_of(event.start, event.len) {
            Some(end) => self.map_known(&KnownMap::new(event, end, named)),
            None => self.unmappable += 1,
        }
        true
    }

    /// What names in records stand for, as far as it is known now. It can be asked by several threads before the maps are
    /// taken in their order by [`Self::map_known`]: what a name stands for does not change until more is listed.
    #[must_use]
    #[inline]
    pub const fn known_names(&self) -> KnownNames<'_> {
        KnownNames::new(&self.recent)
    }

    /// What a map that was taken is called in its record.
    pub fn keep_name(&mut self, event: &MapEvent<'_>, name: &RecordedName<'_>) {
        self.recent.keep_recorded(name, event, self.modules.all());
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

    /// A mapping of a guest came into being: of its kernel if `event.kernel`, else of a process of it. `event.pid` is the
    /// process of the host that runs the guest, or not positive for all guests.
    pub fn map_guest(&mut self, event: &MapEvent<'_>) {
        let Some(end) = end_of(event.start, event.len) else {
            self.unmappable += 1;
            return;
        };
        let (path, kind) = match event.kernel {
            true => (kernel_name(event.path).0, MappedKind::GuestKernel),
            false => (event.path, MappedKind::GuestUser),
        };
        // What the header lists by path can be a file of the host.
        let key = ModuleKey { path, kind, identity: event.identity, owner: None, part: None };
        let module = self.modules.intern(key, None);
        let MapEvent { start, offset, executable, writable, .. } = *event;
        let mapping = Mapping { start, end, offset, module, executable, writable };
        self.guests.map(event.pid, event.kernel, mapping);
    }

    /// Mappings of one process came into being, one after the other up to `now`, of which all is known.
    ///
    /// `false`, and nothing happens, where each of them is to be taken by itself, at its own time: [`Self::map_known`]
    /// does that.
    #[inline]
    #[must_use]
    pub fn map_all_known(
        &mut self,
        now: Timestamp,
        pid: Pid,
        maps: impl ExactSizeIterator<Item = KnownMap>,
    ) -> bool {
        // A journal and hints are about single maps; code of dumps is loaded between them.
        let is_plain = self.hints.is_empty() && !self.journal.on && !self.awaits_jit();
        let taken = is_plain
            && self.processes.get_with_held(pid).is_some_and(|(process, held)| {
                let mut n_code = process.n_code;
                let count = |map: &KnownMap| {
                    n_code = n_code.wrapping_add(u32::from(map.mapping.executable));
                };
                let taken = process.waiting.extend(maps.inspect(count), held);
                process.n_code = n_code;
                taken
            });
        if taken {
            self.advance(now);
        }
        taken
    }

    /// A mapping of a process came into being of which all is known: it is put into the space of the process, at once or
    /// when somebody asks for that space.
    pub fn map_known(&mut self, map: &KnownMap) {
        // All that a journal or hints are about is noted in the order of time.
        let may_wait = map.may_wait() && self.hints.is_empty() && !self.journal.on;
        let mut known = self.processes.get_with_held(map.pid);
        if let Some((process, _)) = &mut known {
            process.n_code = process.n_code.wrapping_add(u32::from(map.mapping.executable));
        }
        let known = known.filter(|_| may_wait);
        if !known.is_some_and(|(process, held)| process.waiting.push(*map, held)) {
            self.lay(map, may_wait);
        }
    }

    /// The same for a process that is not known or where too many maps wait, and for what must not wait.
    #[cold]
    fn lay(&mut self, map: &KnownMap, may_wait: bool) {
        let KnownMap { pid, mapping, is_anonymous } = *map;
        self.process(pid);
        let Some((process, held)) = self.processes.get_with_held(pid) else { return };
        if may_wait {
            // A list that is full becomes a part of the space that is to be made.
            let _ = process.waiting.push(*map, held) || {
                process.bounded_space();
                process.waiting.push(*map, held)
            };
            return;
        }
        let Self { processes, hints, journal, inferences, .. } = self;
        let Some(process) = processes.get_mut(pid) else { return };
        process.has_code |= is_anonymous && mapping.executable;
        process.change(|made, in_force| {
            let mut mapping = mapping;
            if is_anonymous {
                let code = infer(&made.space, &mut made.covered, &mapping, Some(hints));
                if let Some(code) = code {
                    journal.add(pid, &code);
                    inferences.push(Inference::new(pid, &code));
                }
                mapping = code.unwrap_or(mapping);
                let space = made.space_mut();
                // JIT code outlives records about the memory that it is in: a change of its protection makes one.
                space.map_below_jit(mapping);
                if journal.on {
                    let jit = space.jit_code(mapping.start, mapping.end);
                    jit.for_each(|mapping| journal.add(pid, &mapping));
                }
            } else {
                made.space_mut().map(mapping);
            }
            if !in_force.is_empty() {
                let space = made.space_mut();
                hints.lay(in_force, space, pid, mapping.start, mapping.end, journal);
            }
        });
    }

    /// Notes the first map of code of a file.
    #[cold]
    fn map_code_first(&mut self, event: &MapEvent<'_>, named: NamedMapping) {
        if let Some(inode) = event.identity.inode {
            self.file_history.mapped(event.path, inode);
        }
        self.keep(event, named);
    }

    /// Keeps the module of a map for the next one of that name, unless each map is of a module of its own.
    fn keep(&mut self, event: &MapEvent<'_>, named: NamedMapping) {
        let by_name = named.kind != MappedKind::Anonymous || !event.executable;
        if by_name && !is_archive(event.path) {
            self.recent.keep(event, named);
        }
    }

    /// What a map of a process is of, in full.
    fn name(&mut self, event: &MapEvent<'_>) -> NamedMapping {
        let kind = kind_of(event.path);
        let module = self.module(kind, event);
        let mut named = NamedMapping::new(module, kind, event.path);
        named.is_memory |= kind == MappedKind::Unopened && event.identity.build_id.is_none();
        self.keep(event, named);
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
        self.modules.intern(key, Some((event.pid, event.start)))
    }
}
