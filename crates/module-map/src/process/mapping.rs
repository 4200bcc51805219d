//! Maps on the timeline: the module of each record, and its effect on the space of its process.

use address::{Avma, ModuleId, Pid, Timestamp};

use super::event::{MapEvent, RecordedName, end_of};
use super::inference::{Inference, infer};
use super::map_cache::NamedMapping;
use super::timeline::Timeline;
use super::waiting::{CachedMap, CachedNames};
use crate::module::ModuleKey;
use crate::module::{FileIdentity, MappedKind};
use crate::module::{is_archive, kernel_name, kind_of};
use crate::space::Mapping;

/// Gives the vdso of 32-bit processes its own name:
/// 64-bit ones have a different vdso, which the kernel maps above 4 GiB.
///
/// Source: `map_vdso_once` and `vdso_addr` in `arch/x86/entry/vdso/vma.c`; the name is that of perf (`DSO__NAME_VDSO32`).
fn with_own_vdso(event: MapEvent<'_>) -> MapEvent<'_> {
    let is_narrow = event.path == b"[vdso]" && event.start.0 < 1 << 32;
    if is_narrow { MapEvent { path: b"[vdso32]", ..event } } else { event }
}

impl Timeline {
    /// Applies a map.
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
        let known = self.map_cache.find(event, self.modules.all());
        let mut named = known.unwrap_or_else(|| self.name(event));
        if event.executable && named.code_is_new {
            named.code_is_new = false;
            self.map_code_first(event, named);
        }
        self.map_cached(&CachedMap::new(event, end, named));
        if named.marker && named.kind == MappedKind::File && event.executable {
            self.marked(event.path, event.pid);
        }
    }

    /// Applies a map of a process from an undecoded record; `event` has no path and identity, because `name` has them.
    /// Much cheaper than [`Self::map`].
    ///
    /// Returns false, without any effect, if the name is unknown.
    /// Then use [`Self::map`], and [`Self::cache_name`] for the next time.
    #[must_use]
    pub fn map_again(&mut self, event: &MapEvent<'_>, name: &RecordedName<'_>) -> bool {
        let Some(named) = self.cached_names().named(event, name) else { return false };
        match end_of(event.start, event.len) {
            Some(end) => self.map_cached(&CachedMap::new(event, end, named)),
            None => self.unmappable += 1,
        }
        true
    }

    /// Names in records that are known now.
    /// Several threads can query them before [`Self::map_cached`] applies the maps in order.
    /// The meaning of a name does not change until build-ids or files are listed.
    #[must_use]
    #[inline]
    pub const fn cached_names(&self) -> CachedNames<'_> {
        CachedNames::new(&self.map_cache)
    }

    /// Stores the name that an applied map has in its record.
    pub fn cache_name(&mut self, event: &MapEvent<'_>, name: &RecordedName<'_>) {
        self.map_cache.insert_recorded(name, event, self.modules.all());
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

    /// Applies a map of a guest: of its kernel if `event.kernel`, else of one of its processes.
    /// `event.pid` is the host process that runs the guest; it is not positive for all guests.
    pub fn map_guest(&mut self, event: &MapEvent<'_>) {
        let Some(end) = end_of(event.start, event.len) else {
            self.unmappable += 1;
            return;
        };
        let (path, kind) = match event.kernel {
            true => (kernel_name(event.path).0, MappedKind::GuestKernel),
            false => (event.path, MappedKind::GuestUser),
        };
        // The header's build-id for a path may belong to a file of the host.
        let key = ModuleKey { path, kind, identity: event.identity, owner: None, part: None };
        let module = self.modules.intern(key, None);
        let MapEvent { start, offset, executable, writable, .. } = *event;
        let mapping = Mapping { start, end, offset, module, executable, writable };
        self.guests.map(event.pid, event.kernel, mapping);
    }

    /// Applies known maps of one process, one after the other up to `now`.
    ///
    /// Returns false, without any effect, if each of them must be applied separately,
    /// at its own time, by [`Self::map_cached`].
    #[inline]
    #[must_use]
    pub fn map_all_cached(
        &mut self,
        now: Timestamp,
        pid: Pid,
        maps: impl ExactSizeIterator<Item = CachedMap>,
    ) -> bool {
        // Journals and hints concern single maps; code of dumps is loaded between them.
        let is_plain = self.hints.is_empty() && !self.journal.on && !self.awaits_jit();
        let taken = is_plain
            && self.processes.get_with_held(pid).is_some_and(|(process, held)| {
                let mut n_code = process.n_code;
                let count = |map: &CachedMap| {
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

    /// Applies a known map: it is put into the space of the process now, or when the space is needed.
    pub fn map_cached(&mut self, map: &CachedMap) {
        // A journal and hints need time order.
        let may_wait = map.may_wait() && self.hints.is_empty() && !self.journal.on;
        let mut known = self.processes.get_with_held(map.pid);
        if let Some((process, _)) = &mut known {
            process.n_code = process.n_code.wrapping_add(u32::from(map.mapping.executable));
        }
        let known = known.filter(|_| may_wait);
        if !known.is_some_and(|(process, held)| process.waiting.push(*map, held)) {
            self.apply(map, may_wait);
        }
    }

    /// The same for an unknown process, too many waiting maps, and maps that must not wait.
    #[cold]
    fn apply(&mut self, map: &CachedMap, may_wait: bool) {
        let CachedMap { pid, mapping, is_anonymous } = *map;
        self.process(pid);
        let Some((process, held)) = self.processes.get_with_held(pid) else { return };
        if may_wait {
            // A full list becomes a part of a space that is made later.
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
                // JIT code outlives records about its memory: a change of protection makes one.
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
                hints.apply(in_force, space, pid, mapping.start, mapping.end, journal);
            }
        });
    }

    /// Records the first map of code of a file.
    #[cold]
    fn map_code_first(&mut self, event: &MapEvent<'_>, named: NamedMapping) {
        if let Some(inode) = event.identity.inode {
            self.file_history.mapped(event.path, inode);
        }
        self.cache(event, named);
    }

    /// Caches the module of a map for the next one with that name, unless each map has its own module.
    fn cache(&mut self, event: &MapEvent<'_>, named: NamedMapping) {
        let by_name = named.kind != MappedKind::Anonymous || !event.executable;
        if by_name && !is_archive(event.path) {
            self.map_cache.insert(event, named);
        }
    }

    /// Determines the module of a process's map.
    fn name(&mut self, event: &MapEvent<'_>) -> NamedMapping {
        let kind = kind_of(event.path);
        let module = self.module(kind, event);
        let mut named = NamedMapping::new(module, kind, event.path);
        named.is_memory |= kind == MappedKind::Unopened && event.identity.build_id.is_none();
        self.cache(event, named);
        named
    }

    fn module(&mut self, kind: MappedKind, event: &MapEvent<'_>) -> ModuleId {
        let path = event.path;
        let identity =
            if kind == MappedKind::Anonymous { FileIdentity::default() } else { event.identity };
        let identity = self.file_history.identity(path, identity);
        // Code in memory without a file belongs to its process: the same address has other code in another process.
        let owner = (kind == MappedKind::Anonymous && event.executable).then_some(event.pid);
        let part = (kind == MappedKind::File && is_archive(path)).then_some(event.offset);
        let key = ModuleKey { path, kind, identity, owner, part };
        self.modules.intern(key, Some((event.pid, event.start)))
    }
}
