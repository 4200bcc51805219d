//! The address spaces of all processes over time: maps, forks, execs and exits are applied in time order, and at any
//! point the current space of a process can be taken as an immutable value.

mod hint;
mod hints;
mod infer;
mod jit_code;
mod journal;
mod mapping;
mod recent;
mod told;

use std::collections::VecDeque;
use std::sync::Arc;

use address::{Avma, BuildId, FileOffset, ModuleId, Pid, Tid, Timestamp};
use hashbrown::HashMap;

use crate::jit::{JitReader, Pending};
use crate::module::ModuleTable;
use crate::module::{FileIdentity, Inode, Module};
use crate::space::{Piece, Space};
use hints::{Hints, InForce};
use journal::Journal;

pub use hint::{Hint, HintError, HintScope};
pub use infer::Inference;
use recent::Recent;

/// A mapping that came into being.
#[derive(Clone, Copy, Debug)]
pub struct MapEvent<'a> {
    /// The process; ignored for the kernel.
    pub pid: Pid,
    /// Whether it is a map of the kernel: `[kernel.kallsyms]`, a module, BPF code.
    pub kernel: bool,
    /// The first address.
    pub start: Avma,
    /// Bytes mapped. Zero maps nothing; what passes the end of the address space is cut.
    pub len: u64,
    /// The offset in the file of the first byte.
    pub offset: FileOffset,
    /// Whether it is executable.
    pub executable: bool,
    /// Whether it is writable.
    pub writable: bool,
    /// The file's path or the kernel's name for the memory.
    pub path: &'a [u8],
    /// Which file it is.
    pub identity: FileIdentity,
}

/// A dense number of a thread name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CommId(pub u32);

/// A process image: a process between two of fork, exec and exit. Its modules do not move about as a rule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Lineage(pub u32);

#[derive(Debug, Clone)]
struct Process {
    space: Arc<Space>,
    lineage: Lineage,
    threads: u32,
    hints: InForce,
    /// Pieces of code over which memory without file was put: where that becomes code, it is the same code.
    covered: Vec<Piece>,
}

impl Process {
    const fn new(space: Arc<Space>, lineage: Lineage) -> Self {
        Self { space, lineage, threads: 1, hints: Vec::new(), covered: Vec::new() }
    }
}

#[derive(Debug, Clone, Copy)]
struct Thread {
    comm: CommId,
}

/// How many processes that have exited keep their spaces, for samples that come late.
const DEAD_KEPT: usize = 1024;

/// State of the replay at one point in time.
#[derive(Debug)]
pub struct Timeline {
    processes: HashMap<Pid, Process>,
    threads: HashMap<Tid, Thread>,
    dead: VecDeque<(Pid, Lineage)>,
    kernel: Arc<Space>,
    /// A space without pieces.
    empty: Arc<Space>,
    kernel_reference: Option<(Box<[u8]>, Avma)>,
    modules: ModuleTable,
    recent: Recent,
    listed_ids: HashMap<Box<[u8]>, BuildId>,
    /// Of paths that led to several files: the last.
    last_files: HashMap<Box<[u8]>, Inode>,
    /// The file of each path whose code was mapped, as of the last module that is of its own.
    files: HashMap<Box<[u8]>, Inode>,
    saw_replaced_file: bool,
    comms: Vec<Box<[u8]>>,
    comm_index: HashMap<Box<[u8]>, CommId>,
    next_lineage: u32,
    unmappable: u64,
    hints: Hints,
    inferences: Vec<Inference>,
    now: Timestamp,
    jit_reader: Option<Box<dyn JitReader>>,
    jit_pending: Pending,
    /// The modules of JIT code; their number in `jit_pending` is the index.
    jit_modules: Vec<ModuleId>,
    journal: Journal,
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
        let modules = ModuleTable::default();
        let empty = Arc::new(Space::of(modules.shared().clone()));
        let mut timeline = Self {
            processes: HashMap::new(),
            threads: HashMap::new(),
            dead: VecDeque::new(),
            kernel: empty.clone(),
            empty,
            kernel_reference: None,
            modules,
            recent: Recent::default(),
            listed_ids: HashMap::new(),
            last_files: HashMap::new(),
            files: HashMap::new(),
            saw_replaced_file: false,
            comms: Vec::new(),
            comm_index: HashMap::new(),
            next_lineage: 0,
            unmappable: 0,
            hints: Hints::default(),
            inferences: Vec::new(),
            now: Timestamp(0),
            jit_reader: None,
            jit_pending: Pending::default(),
            jit_modules: Vec::new(),
            journal: Journal::default(),
        };
        let idle = timeline.intern_comm(b"swapper");
        timeline.threads.insert(Tid(0), Thread { comm: idle });
        timeline
    }

    /// Tells the build-id that the recording lists for a path; used where a map record carries none.
    pub fn list_build_id(&mut self, path: &[u8], id: BuildId) {
        self.recent.clear();
        self.listed_ids.insert(path.into(), id);
    }

    /// Tells that a path led to several files while it was recorded, and which was the last. What is listed for the path
    /// and what is there now can only be that one.
    pub fn list_last_file(&mut self, path: &[u8], last: Inode) {
        self.recent.clear();
        self.last_files.insert(path.into(), last);
    }

    /// Whether code of two files was mapped by one path. Then it matters which was the last one of them, see
    /// [`Self::list_last_file`].
    #[must_use]
    pub const fn saw_replaced_file(&self) -> bool {
        self.saw_replaced_file
    }

    /// Kernel code that was made at run time went away.
    pub fn unmap_kernel(&mut self, start: Avma, len: u64) {
        if let Some(end) = end_of(start, len) {
            Arc::make_mut(&mut self.kernel).unmap(start, end);
        }
    }

    /// A process or thread came into being. A new process begins with its parent's space, at no cost.
    pub fn fork(&mut self, pid: Pid, tid: Tid, parent: Pid, parent_thread: Tid) {
        let inherited = self.processes.get(&parent).filter(|_| pid != parent);
        let (space, hints, covered) = match inherited {
            Some(it) => (it.space.clone(), it.hints.clone(), it.covered.clone()),
            None => (self.empty.clone(), Vec::new(), Vec::new()),
        };
        self.start(pid, tid, (parent, parent_thread), (space, &hints, covered));
    }

    /// A process or thread was there before the recording began, which the recorder states by a synthesized FORK. A
    /// process has nothing of its parent's space: it may have executed another program since, and its own maps are
    /// listed.
    ///
    /// Source: `PERF_RECORD_MISC_FORK_EXEC` in perf's synthesized events.
    pub fn already_running(&mut self, pid: Pid, tid: Tid, parent: Pid, parent_thread: Tid) {
        let nothing = (self.empty.clone(), &[][..], Vec::new());
        self.start(pid, tid, (parent, parent_thread), nothing);
    }

    fn start(
        &mut self,
        pid: Pid,
        tid: Tid,
        (parent, parent_thread): (Pid, Tid),
        (space, hints, covered): (Arc<Space>, &[u32], Vec<Piece>),
    ) {
        let inherited = self
            .threads
            .get(&parent_thread)
            .or_else(|| self.threads.get(&Tid(parent.0)))
            .map(|t| t.comm);
        let comm = inherited.unwrap_or_else(|| self.intern_comm(b""));
        self.threads.insert(tid, Thread { comm });
        if pid == parent {
            self.process(pid).threads += 1;
        } else {
            self.hints.forked(pid);
            let name = self.comm_name(comm).to_vec();
            let process = self.begin(pid, &name, space, hints);
            self.processes.insert(pid, Process { covered, ..process });
        }
    }

    /// A thread changed its name; with `exec`, its process became another program and lost its maps.
    pub fn comm(&mut self, pid: Pid, tid: Tid, name: &[u8], exec: bool) {
        let comm = self.intern_comm(name);
        self.threads.insert(tid, Thread { comm });
        if exec {
            self.hints.executed(pid);
            let process = self.begin(pid, name, self.empty.clone(), &[]);
            self.processes.insert(pid, process);
        } else if tid.0 == pid.0 && !self.hints.is_empty() {
            self.renamed(pid, name);
        }
    }

    /// A thread ended. The space of a process stays readable for a while after its last thread, since samples of its
    /// end can come late; a process that is made anew under the same id replaces it.
    pub fn exit(&mut self, pid: Pid, _tid: Tid) {
        let Some(process) = self.processes.get_mut(&pid) else { return };
        process.threads = process.threads.saturating_sub(1);
        if process.threads > 0 {
            return;
        }
        self.dead.push_back((pid, process.lineage));
        let forgotten = if self.dead.len() > DEAD_KEPT { self.dead.pop_front() } else { None };
        if let Some((pid, _)) = forgotten.filter(|(pid, lineage)| self.is_lineage(*pid, *lineage)) {
            self.processes.remove(&pid);
            self.threads.remove(&Tid(pid.0));
        }
    }

    fn is_lineage(&self, pid: Pid, lineage: Lineage) -> bool {
        self.processes.get(&pid).is_some_and(|process| process.lineage == lineage)
    }

    /// The space of a process as it is now, and which image of the process it is.
    pub fn space(&mut self, pid: Pid) -> (Arc<Space>, Lineage) {
        let process = self.process(pid);
        (process.space.clone(), process.lineage)
    }

    /// The same, to be looked at.
    pub fn current(&mut self, pid: Pid) -> (&Arc<Space>, Lineage) {
        let process = self.process(pid);
        (&process.space, process.lineage)
    }

    /// The kernel's space as it is now, to be looked at.
    #[must_use]
    pub const fn kernel_space(&self) -> &Arc<Space> {
        &self.kernel
    }

    /// The kernel's space as it is now.
    #[must_use]
    pub fn kernel(&self) -> Arc<Space> {
        self.kernel.clone()
    }

    /// The symbol that tells how far the kernel was moved when it booted (`_text` or `_stext`), and its address.
    #[must_use]
    pub fn kernel_reference(&self) -> Option<(&[u8], Avma)> {
        self.kernel_reference.as_ref().map(|(symbol, address)| (&**symbol, *address))
    }

    /// The name of a thread as it is now: its own, else that of its process, else empty.
    pub fn comm_of(&mut self, pid: Pid, tid: Tid) -> CommId {
        let known = self
            .threads
            .get(&tid)
            .or_else(|| self.threads.get(&Tid(pid.0)))
            .map(|thread| thread.comm);
        known.unwrap_or_else(|| self.intern_comm(b""))
    }

    /// The bytes of a name.
    #[must_use]
    pub fn comm_name(&self, comm: CommId) -> &[u8] {
        self.comms.get(comm.0 as usize).map_or(&[], |name| name)
    }

    /// All modules so far; a module's id is its index.
    #[must_use]
    pub fn modules(&self) -> &[Arc<Module>] {
        self.modules.all()
    }

    /// How many map records were ignored because they map nothing.
    #[must_use]
    pub const fn unmappable(&self) -> u64 {
        self.unmappable
    }

    fn process(&mut self, pid: Pid) -> &mut Process {
        if !self.processes.contains_key(&pid) {
            self.meet(pid);
        }
        let (next, empty) = (&mut self.next_lineage, &self.empty);
        self.processes.entry(pid).or_insert_with(|| {
            *next += 1;
            Process::new(empty.clone(), Lineage(*next))
        })
    }

    /// A process that nothing told of is there.
    #[cold]
    fn meet(&mut self, pid: Pid) {
        let comm = self.threads.get(&Tid(pid.0)).map(|thread| thread.comm);
        let name = comm.map_or_else(Vec::new, |comm| self.comm_name(comm).to_vec());
        let process = self.begin(pid, &name, self.empty.clone(), &[]);
        self.processes.insert(pid, process);
    }

    const fn new_lineage(&mut self) -> Lineage {
        self.next_lineage += 1;
        Lineage(self.next_lineage)
    }

    fn intern_comm(&mut self, name: &[u8]) -> CommId {
        if let Some(&id) = self.comm_index.get(name) {
            return id;
        }
        let id = CommId(u32::try_from(self.comms.len()).unwrap_or(u32::MAX));
        self.comms.push(name.into());
        self.comm_index.insert(name.into(), id);
        id
    }
}

/// The end of a mapping, cut at the end of the address space; `None` where it is empty.
fn end_of(start: Avma, len: u64) -> Option<Avma> {
    let end = Avma(start.0.saturating_add(len));
    (start < end).then_some(end)
}
