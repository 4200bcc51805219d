//! The timeline: maps, forks, execs and exits are applied in time order, and at any point the current space of a
//! process can be taken as an immutable value.

use std::sync::Arc;

use address::{Avma, BuildId, Pid, Tid};
use budget::{Held, Memory, MemoryUse};

use super::cgroups::{CgroupId, Cgroups};
use super::comms::{CommId, Comms};
use super::file_history::{FileHistory, FilesOfPaths};
use super::hints::LaidHints;
use super::infer::Inference;
use super::inherited_code::own_code;
use super::jit_code::JitCode;
use super::journal::Journal;
use super::kernel_map::{Guest, Guests, KernelMap};
use super::processes::{Inheritance, Process, ProcessImage, Processes};
use super::recent::RecentModules;
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
    pub(super) recent: RecentModules,
    pub(super) hints: LaidHints,
    pub(super) jit: JitCode,
    pub(super) inferences: Vec<Inference>,
    pub(super) journal: Journal,
    pub(super) unmappable: u64,
}

/// A process as it is now.
#[derive(Debug)]
pub struct CurrentProcess<'t> {
    /// Its space, which is made when somebody needs it.
    pub space: &'t Arc<LazySpace>,
    /// Which image of the process it is.
    pub image: ProcessImage,
    /// Processes are known that may share its memory.
    pub has_relatives: bool,
}

impl Default for Timeline {
    fn default() -> Self {
        Self::new()
    }
}

impl Timeline {
    /// A timeline on which nothing has happened yet.
    #[must_use]
    pub fn new() -> Self {
        Self::holding(Held::NOWHERE)
    }

    /// The same, which counts what it takes as held in `memory`, spaces that others still use among it.
    #[must_use]
    pub fn within(memory: &Arc<Memory>) -> Self {
        Self::holding(Held::new(memory, MemoryUse::Processes))
    }

    fn holding(held: Held) -> Self {
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
            recent: RecentModules::default(),
            hints: LaidHints::default(),
            jit: JitCode::new(held),
            inferences: Vec::new(),
            journal: Journal::default(),
            unmappable: 0,
        }
    }

    /// Takes in the build-id that the recording lists for a path; used where a map record carries none.
    pub fn list_build_id(&mut self, path: &[u8], id: BuildId) {
        self.recent.clear();
        self.file_history.list_build_id(path, id);
    }

    /// Takes in which files the paths of the whole recording led to. The build-id that the header lists for a path is of a
    /// file only if the path led to no other. To be called before anything happens.
    pub fn list_files(&mut self, files: FilesOfPaths) {
        self.recent.clear();
        self.file_history.list_files(files);
    }

    /// Returns true if code of two files was mapped by one path, or a file was deleted after it was mapped. Then
    /// [`Self::list_files`] makes a difference.
    #[must_use]
    pub const fn saw_several_files(&self) -> bool {
        self.file_history.saw_several()
    }

    /// Kernel code that was made at run time went away.
    pub fn unmap_kernel(&mut self, start: Avma, len: u64) {
        self.kernel.unmap(start, len);
    }

    /// A process or thread came into being. A new process begins with its parent's space, at no cost.
    pub fn fork(&mut self, pid: Pid, tid: Tid, parent: Pid, parent_thread: Tid) {
        // A child has what its parent has by now; both go on with the same space, so it is made once at most.
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

    /// A process or thread was there before the recording began, which the recorder states by a synthesized FORK. A
    /// process has nothing of its parent's space or name: it may have executed another program since, and its own maps
    /// and its name are listed.
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

    /// A thread changed its name; with `exec`, its process became another program, got the name and lost its maps.
    /// Without, a process has the name if it is that of its main thread and the process has none yet.
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

    /// The recorder listed a thread that was there before the recording began, and its name. That of the main thread is
    /// the name of the process.
    pub fn listed_comm(&mut self, pid: Pid, tid: Tid, name: &[u8]) {
        self.comm(pid, tid, name, false);
        if tid.0 == pid.0 {
            let comm = self.comms.intern(name);
            self.comms.name_process(pid, comm);
        }
    }

    /// A thread ended. The space of a process stays readable for a while after its last thread, since samples of its
    /// end can come late; a process that is made anew under the same id replaces it.
    pub fn exit(&mut self, pid: Pid, _tid: Tid) {
        if let Some(forgotten) = self.processes.exit(pid) {
            self.comms.forget(Tid(forgotten.0));
            self.comms.forget_process(forgotten);
        }
    }

    /// The space of a process as it is now, and which image of the process it is.
    pub fn space(&mut self, pid: Pid) -> (Arc<Space>, ProcessImage) {
        let CurrentProcess { space, image, .. } = self.current(pid);
        (space.space().clone(), image)
    }

    /// The same, not made yet: whoever needs the space makes it, on any thread and at any time.
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

    /// The kernel's space as it is now, to be looked at.
    #[must_use]
    pub const fn kernel_space(&self) -> &Arc<Space> {
        &self.kernel.space
    }

    /// The kernel's space as it is now.
    #[must_use]
    pub fn kernel(&self) -> Arc<Space> {
        self.kernel.space.clone()
    }

    /// Code of a guest or of the hypervisor was sampled: from now on [`Self::guest`] has a module for it.
    pub fn sampled_guest(&mut self, kind: MappedKind) {
        self.guests.sampled(kind, &mut self.modules);
    }

    /// The spaces of the guest that a process runs, as they are now; `None` if nothing of guests was recorded.
    #[must_use]
    #[inline]
    pub fn guest(&self, pid: Pid) -> Option<&Arc<Guest>> {
        self.guests.get(pid)
    }

    /// The symbol by whose address the recording says how far the kernel was moved when it booted (`_text` or
    /// `_stext`), and that address.
    #[must_use]
    pub fn kernel_reference(&self) -> Option<(&[u8], Avma)> {
        self.kernel.reference()
    }

    /// The name of a thread as it is now: its own, else that of its process, else empty.
    pub fn comm_of(&mut self, pid: Pid, tid: Tid) -> CommId {
        self.comms.of(pid, tid)
    }

    /// The name of a process as it is now: that of the program that it executed last, as the kernel keeps it, else that
    /// under which the recorder listed it. A fork has that of its parent, and a renaming of the main thread does not
    /// matter. Of a process that no record names it is the name of its main thread, else that of the first thread that
    /// this was called for; `thread` is the one at hand.
    #[inline]
    pub fn process_name(&mut self, pid: Pid, thread: CommId) -> CommId {
        self.comms.of_process(pid, thread)
    }

    /// The bytes of a name.
    #[must_use]
    pub fn comm_name(&self, comm: CommId) -> &[u8] {
        self.comms.name(comm)
    }

    /// A control group has that path.
    pub fn cgroup(&mut self, id: CgroupId, path: &[u8]) {
        self.cgroups.name(id, path);
    }

    /// The path of a control group below the root of the hierarchy; `[cgroup ID]` where the recording does not state it.
    #[must_use]
    pub fn cgroup_path(&self, id: CgroupId) -> Vec<u8> {
        self.cgroups.path(id)
    }

    /// All modules so far; a module's id is its index.
    #[must_use]
    pub fn modules(&self) -> &[Arc<Module>] {
        self.modules.all()
    }

    /// Memory without a file that was taken for the file that had been mapped there before, in the order of time.
    #[must_use]
    pub fn inferences(&self) -> &[Inference] {
        &self.inferences
    }

    /// How many map records were ignored because they map nothing.
    #[must_use]
    pub const fn unmappable(&self) -> u64 {
        self.unmappable
    }

    /// A process as it is now.
    pub(super) fn process(&mut self, pid: Pid) -> &mut Process {
        if !self.processes.contains(pid) {
            self.discover(pid);
        }
        self.processes.get_or_new(pid)
    }

    /// A process is there whose beginning was not recorded.
    #[cold]
    pub(super) fn discover(&mut self, pid: Pid) {
        let comm = self.comms.of_thread(Tid(pid.0));
        let name = comm.map_or_else(Vec::new, |comm| self.comms.name(comm).to_vec());
        let process = self.begin(pid, &name, self.processes.empty().clone(), Vec::new());
        self.processes.insert(pid, process);
    }
}
