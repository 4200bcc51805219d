//! The timeline: maps, forks, execs and exits are applied in time order.
//! At any point it returns the current space of a process as an immutable value.

use std::sync::Arc;

use address::{Avma, BuildId, Pid, Tid};
use budget::{HeldMemory, MemoryBudget, MemoryUse};

use super::cgroups::{CgroupId, Cgroups};
use super::comms::{CommId, Comms};
use super::file_history::{FileHistory, FilesOfPaths};
use super::hints::ActiveHints;
use super::inference::Inference;
use super::inherited_code::own_code;
use super::jit_code::JitCode;
use super::journal::Journal;
use super::kernel_map::{Guest, Guests, KernelMap};
use super::map_cache::MapCache;
use super::processes::{Inheritance, Process, ProcessImage, Processes};
use super::waiting::LazySpace;
use crate::module::{MappedKind, Module, ModuleTable};
use crate::space::Space;

/// State of the replay at one point in time.
#[derive(Debug)]
pub struct Timeline {
    pub(super) processes: Processes,
    pub(super) comms: Comms,
    cgroups: Cgroups,
    pub(super) file_history: FileHistory,
    pub(super) kernel: KernelMap,
    pub(super) guests: Guests,
    pub(super) modules: ModuleTable,
    pub(super) map_cache: MapCache,
    pub(super) hints: ActiveHints,
    pub(super) jit: JitCode,
    pub(super) inferences: Vec<Inference>,
    pub(super) journal: Journal,
    pub(super) unmappable: u64,
}

/// Current state of a process.
#[derive(Debug)]
pub struct CurrentProcess<'t> {
    /// Its space, which is built when it is needed.
    pub space: &'t Arc<LazySpace>,
    /// Its process image.
    pub image: ProcessImage,
    /// True if other processes may share its memory.
    pub has_relatives: bool,
}

impl Default for Timeline {
    fn default() -> Self {
        Self::new()
    }
}

impl Timeline {
    /// Creates an empty timeline.
    #[must_use]
    pub fn new() -> Self {
        Self::holding(HeldMemory::UNCOUNTED)
    }

    /// Creates an empty timeline that accounts its size in `memory`, including spaces that others still use.
    #[must_use]
    pub fn within(memory: &Arc<MemoryBudget>) -> Self {
        Self::holding(HeldMemory::new(memory, MemoryUse::Processes))
    }

    fn holding(held: HeldMemory) -> Self {
        let modules = ModuleTable::new(held.another(0));
        let empty = Arc::new(Space::of(modules.shared().clone(), &held));
        Self {
            kernel: KernelMap::new(empty.clone()),
            guests: Guests::new(empty.clone()),
            processes: Processes::new(empty, held.another(0)),
            comms: Comms::new(held.another(0)),
            cgroups: Cgroups::default(),
            file_history: FileHistory::default(),
            modules,
            map_cache: MapCache::default(),
            hints: ActiveHints::default(),
            jit: JitCode::new(held),
            inferences: Vec::new(),
            journal: Journal::default(),
            unmappable: 0,
        }
    }

    /// Adds the build-id that the recording lists for a path, for map records without one.
    pub fn list_build_id(&mut self, path: &[u8], id: BuildId) {
        self.map_cache.clear();
        self.file_history.list_build_id(path, id);
    }

    /// Sets the files of all paths in the recording.
    /// The header's build-id for a path belongs to a file only if the path had no other one. Call it before any event.
    pub fn list_files(&mut self, files: FilesOfPaths) {
        self.map_cache.clear();
        self.file_history.list_files(files);
    }

    /// Returns true if one path mapped code of two files, or a file was deleted after it was mapped.
    /// Then [`Self::list_files`] makes a difference.
    #[must_use]
    pub const fn saw_several_files(&self) -> bool {
        self.file_history.saw_several()
    }

    /// Removes kernel code that was made at run time.
    pub fn unmap_kernel(&mut self, start: Avma, len: u64) {
        self.kernel.unmap(start, len);
    }

    /// Adds a process or thread. A new process starts with its parent's space, at no cost.
    pub fn fork(&mut self, pid: Pid, tid: Tid, parent: Pid, parent_thread: Tid) {
        // Parent and child share the space so far, which is therefore built at most once.
        let inherited = if pid != parent && self.processes.contains(parent) {
            self.process(parent).inheritance()
        } else {
            self.nothing_inherited()
        };
        self.start(pid, tid, parent, parent_thread, inherited);
        if pid != parent {
            self.comms.inherit_process(pid, parent);
            self.began(pid);
            self.relate(pid, parent);
        }
    }

    /// Adds a process or thread that existed before the recording, stated by a synthesized FORK.
    /// A process inherits neither space nor name: it may have executed another program since.
    /// Its own maps and name are listed.
    ///
    /// Source: `PERF_RECORD_MISC_FORK_EXEC` in perf's synthesized events.
    pub fn already_running(&mut self, pid: Pid, tid: Tid, parent: Pid, parent_thread: Tid) {
        self.start(pid, tid, parent, parent_thread, self.nothing_inherited());
        if pid != parent {
            self.comms.forget_process(pid);
        }
    }

    fn nothing_inherited(&self) -> Inheritance {
        let space = self.processes.empty().clone();
        Inheritance { space, hints: Vec::new(), has_code: false }
    }

    fn start(
        &mut self,
        pid: Pid,
        tid: Tid,
        parent: Pid,
        parent_thread: Tid,
        inherited: Inheritance,
    ) {
        let comm = self
            .comms
            .of_thread(parent_thread)
            .or_else(|| self.comms.of_thread(Tid(parent.0)))
            .unwrap_or_else(|| self.comms.intern(b""));
        self.comms.set(tid, comm);
        if pid == parent {
            self.process(pid).threads += 1;
            return;
        }
        self.hints.forked(pid);
        let name = self.comms.name(comm).to_vec();
        let Inheritance { space, hints, has_code } = inherited;
        let mut process = self.begin(pid, &name, space, hints);
        (process.has_code, process.inherits_code) = (has_code, has_code);
        self.processes.insert(pid, process);
    }

    /// Renames a thread; with `exec`, its process became another program with that name and lost its maps.
    /// Without, an unnamed process takes the name of its main thread.
    pub fn comm(&mut self, pid: Pid, tid: Tid, name: &[u8], exec: bool) {
        let comm = self.comms.intern(name);
        self.comms.set(tid, comm);
        if exec {
            self.comms.name_process(pid, comm);
            self.hints.executed(pid);
            let process = self.begin(pid, name, self.processes.empty().clone(), Vec::new());
            self.processes.insert(pid, process);
            self.began(pid);
            return;
        }
        if tid.0 == pid.0 {
            self.comms.name_unnamed_process(pid, comm);
            if !self.hints.is_empty() {
                self.renamed(pid, name);
            }
        }
    }

    /// Adds a listed thread from before the recording with its name.
    /// The name of the main thread is that of the process.
    pub fn listed_comm(&mut self, pid: Pid, tid: Tid, name: &[u8]) {
        self.comm(pid, tid, name, false);
        if tid.0 == pid.0 {
            let comm = self.comms.intern(name);
            self.comms.name_process(pid, comm);
        }
    }

    /// Records the end of a thread.
    /// The space of a process remains readable for a while, because samples of its end can come late.
    /// A new process with the same id replaces it.
    pub fn exit(&mut self, pid: Pid, tid: Tid) {
        if tid.0 != pid.0 {
            self.comms.ended(tid);
        }
        if let Some(forgotten) = self.processes.exit(pid) {
            self.comms.forget(Tid(forgotten.0));
            self.comms.forget_process(forgotten);
        }
    }

    /// Returns the current space of a process, and its process image.
    pub fn space(&mut self, pid: Pid) -> (Arc<Space>, ProcessImage) {
        let CurrentProcess { space, image, .. } = self.current(pid);
        (space.space().clone(), image)
    }

    /// The same, not built yet: the space is built on first use, on any thread and at any time.
    #[inline]
    pub fn current(&mut self, pid: Pid) -> CurrentProcess<'_> {
        if !self.processes.contains(pid) {
            self.discover(pid);
        }
        let Self { processes, modules, .. } = self;
        let process = processes.get_or_new(pid);
        if process.inherits_code {
            own_code(process, modules, pid);
        }
        let (image, has_relatives) = (process.image, !process.relatives.is_empty());
        CurrentProcess { space: process.space(), image, has_relatives }
    }

    /// The current space of the kernel, by reference.
    #[must_use]
    pub const fn kernel_space(&self) -> &Arc<Space> {
        &self.kernel.space
    }

    /// Returns the current space of the kernel.
    #[must_use]
    pub fn kernel(&self) -> Arc<Space> {
        self.kernel.space.clone()
    }

    /// Records that code of a guest or of the hypervisor was sampled, so that [`Self::guest`] has a module for it.
    pub fn sampled_guest(&mut self, kind: MappedKind) {
        self.guests.sampled(kind, &mut self.modules);
    }

    /// Returns the current spaces of the guest that a process runs; `None` if no guest was recorded.
    #[must_use]
    #[inline]
    pub fn guest(&self, pid: Pid) -> Option<&Arc<Guest>> {
        self.guests.get(pid)
    }

    /// Returns the symbol that shows the kernel's load address (`_text` or `_stext`), and its recorded address.
    #[must_use]
    pub fn kernel_reference(&self) -> Option<(&[u8], Avma)> {
        self.kernel.reference()
    }

    /// Returns the current name of a thread: its own, else that of its process, else empty.
    pub fn comm_of(&mut self, pid: Pid, tid: Tid) -> CommId {
        self.comms.of(pid, tid)
    }

    /// Returns the current name of a process: that of its last executed program as stored by the kernel.
    /// Before an exec it is the recorder's listed name; a fork has its parent's.
    /// Renaming the main thread has no effect.
    /// Without any record it is the name of the main thread, else that of the first queried thread.
    /// `thread` is the name of the current thread.
    #[inline]
    pub fn process_name(&mut self, pid: Pid, thread: CommId) -> CommId {
        self.comms.of_process(pid, thread)
    }

    /// The bytes of a name.
    #[must_use]
    pub fn comm_name(&self, comm: CommId) -> &[u8] {
        self.comms.name(comm)
    }

    /// Sets the path of a control group.
    pub fn cgroup(&mut self, id: CgroupId, path: &[u8]) {
        self.cgroups.name(id, path);
    }

    /// Returns the path of a control group below the root of the hierarchy;
    /// `[cgroup ID]` if the recording does not state it.
    #[must_use]
    pub fn cgroup_path(&self, id: CgroupId) -> Vec<u8> {
        self.cgroups.path(id)
    }

    /// All modules so far; a module's id is its index.
    #[must_use]
    pub fn modules(&self) -> &[Arc<Module>] {
        self.modules.all()
    }

    /// Memory without a file that is identified with the file mapped there before, in time order.
    #[must_use]
    pub fn inferences(&self) -> &[Inference] {
        &self.inferences
    }

    /// Number of map records that were ignored because they map nothing.
    #[must_use]
    pub const fn unmappable(&self) -> u64 {
        self.unmappable
    }

    /// Returns the current state of a process.
    pub(super) fn process(&mut self, pid: Pid) -> &mut Process {
        if !self.processes.contains(pid) {
            self.discover(pid);
        }
        self.processes.get_or_new(pid)
    }

    /// Adds a process without a recorded start.
    #[cold]
    pub(super) fn discover(&mut self, pid: Pid) {
        let comm = self.comms.of_thread(Tid(pid.0));
        let name = comm.map_or_else(Vec::new, |comm| self.comms.name(comm).to_vec());
        let process = self.begin(pid, &name, self.processes.empty().clone(), Vec::new());
        self.processes.insert(pid, process);
    }
}
