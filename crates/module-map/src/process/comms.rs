//! Thread names, and the current name of each thread.

use address::{Pid, Tid};
use budget::HeldMemory;
use hashbrown::{HashMap, HashSet};

/// Dense id of a thread name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CommId(pub u32);

/// Thread names, and the threads that have them.
#[derive(Debug)]
pub(super) struct Comms {
    names: Vec<Box<[u8]>>,
    index: HashMap<Box<[u8]>, CommId>,
    of_thread: HashMap<Tid, CommId>,
    of_process: HashMap<Pid, ProcessName>,
    /// Threads besides main threads that have exited.
    ended: HashSet<Tid>,
    held: HeldMemory,
}

/// The name of a process.
#[derive(Clone, Copy, Debug)]
struct ProcessName {
    comm: CommId,
    /// True for the name of a thread, used until a record names the process.
    is_stand_in: bool,
}

/// Accounted bytes per name besides its text, which is stored twice.
const NAME: usize = 64;
/// Accounted bytes per thread.
const THREAD: u64 = 2 * size_of::<(Tid, CommId)>() as u64;
/// Accounted bytes per exited thread.
const ENDED: u64 = 16;
/// Accounted bytes per process.
const PROCESS: u64 = 2 * size_of::<(Pid, ProcessName)>() as u64;
/// The process that starts kernel threads, which get their names from COMM records without an exec.
///
/// Source: `kthreadd_task` in `init/main.c`.
const KTHREADD: &[u8] = b"kthreadd";

impl Comms {
    /// Creates the names with only the idle task, thread 0 of each processor. Charged to the account of `held`.
    pub(super) fn new(held: HeldMemory) -> Self {
        let (names, index, of_thread) = (Vec::new(), HashMap::new(), HashMap::new());
        let (of_process, ended) = (HashMap::new(), HashSet::new());
        let mut comms = Self { names, index, of_thread, of_process, ended, held };
        let idle = comms.intern(b"swapper");
        comms.of_thread.insert(Tid(0), idle);
        comms
    }

    /// Sets the name of a thread.
    pub(super) fn set(&mut self, tid: Tid, comm: CommId) {
        if self.of_thread.insert(tid, comm).is_none() {
            self.held.add(THREAD);
        } else if !self.ended.is_empty() && self.ended.remove(&tid) {
            self.held.set(self.held.bytes().saturating_sub(ENDED));
        }
    }

    /// Records that a thread other than a main thread has exited. Late samples can still need its name.
    pub(super) fn ended(&mut self, tid: Tid) {
        if self.of_thread.contains_key(&tid) && self.ended.insert(tid) {
            self.held.add(ENDED);
        }
    }

    /// Forgets the threads that have exited, except main threads.
    pub(super) fn forget_ended(&mut self) {
        let bytes = self.ended.len() as u64 * ENDED;
        for tid in std::mem::take(&mut self.ended) {
            self.forget(tid);
        }
        self.held.set(self.held.bytes().saturating_sub(bytes));
    }

    /// Forgets an exited thread.
    pub(super) fn forget(&mut self, tid: Tid) {
        if self.of_thread.remove(&tid).is_some() {
            self.held.set(self.held.bytes().saturating_sub(THREAD));
        }
    }

    /// Returns the name of a thread, if known.
    pub(super) fn of_thread(&self, tid: Tid) -> Option<CommId> {
        self.of_thread.get(&tid).copied()
    }

    /// Returns the name of a thread: its own, else that of its process, else empty.
    pub(super) fn of(&mut self, pid: Pid, tid: Tid) -> CommId {
        let known = self.of_thread(tid).or_else(|| self.of_thread(Tid(pid.0)));
        known.unwrap_or_else(|| self.intern(b""))
    }

    /// Names a process: its program was executed, or the recorder listed it.
    pub(super) fn name_process(&mut self, pid: Pid, comm: CommId) {
        self.set_process(pid, ProcessName { comm, is_stand_in: false });
    }

    /// Names an unnamed process by the first record of its main thread's name. A later record renames only the thread.
    pub(super) fn name_unnamed_process(&mut self, pid: Pid, comm: CommId) {
        if self.of_process.get(&pid).is_none_or(|known| known.is_stand_in) {
            self.name_process(pid, comm);
        }
    }

    /// Gives a new process the name of its parent. A kernel thread has no name until its first record.
    pub(super) fn inherit_process(&mut self, pid: Pid, parent: Pid) {
        let inherited = self.of_process.get(&parent).copied();
        match inherited.filter(|name| self.name(name.comm) != KTHREADD) {
            Some(name) => self.set_process(pid, name),
            None => self.forget_process(pid),
        }
    }

    /// Forgets the name of a process.
    pub(super) fn forget_process(&mut self, pid: Pid) {
        if self.of_process.remove(&pid).is_some() {
            self.held.set(self.held.bytes().saturating_sub(PROCESS));
        }
    }

    /// Returns the name of a process.
    /// Without a record, it is the current name of the main thread, else that of the first queried thread: `thread`.
    #[inline]
    pub(super) fn of_process(&mut self, pid: Pid, thread: CommId) -> CommId {
        match self.of_process.get(&pid) {
            Some(name) if !name.is_stand_in => name.comm,
            known => {
                let known = known.map(|name| name.comm);
                self.of_unnamed_process(pid, known, thread)
            }
        }
    }

    #[cold]
    fn of_unnamed_process(&mut self, pid: Pid, known: Option<CommId>, thread: CommId) -> CommId {
        if let Some(main) = self.of_thread(Tid(pid.0)) {
            return main;
        }
        let comm = known.unwrap_or(thread);
        // An unnamed thread may still get a name.
        if known.is_none() && !self.name(comm).is_empty() {
            self.set_process(pid, ProcessName { comm, is_stand_in: true });
        }
        comm
    }

    fn set_process(&mut self, pid: Pid, name: ProcessName) {
        if self.of_process.insert(pid, name).is_none() {
            self.held.add(PROCESS);
        }
    }

    /// The bytes of a name.
    pub(super) fn name(&self, comm: CommId) -> &[u8] {
        self.names.get(comm.0 as usize).map_or(&[], |name| name)
    }

    /// Returns the id of a name, adding it if needed.
    pub(super) fn intern(&mut self, name: &[u8]) -> CommId {
        if let Some(&id) = self.index.get(name) {
            return id;
        }
        let id = CommId(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        self.held.add((NAME + 2 * name.len()) as u64);
        self.names.push(name.into());
        self.index.insert(name.into(), id);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_without_a_name_has_that_of_its_process() {
        let mut comms = Comms::new(HeldMemory::UNCOUNTED);
        assert_eq!(comms.of(Pid(0), Tid(0)), CommId(0));
        assert_eq!(comms.name(CommId(0)), b"swapper");
        let app = comms.intern(b"app");
        comms.set(Tid(7), app);
        assert_eq!([comms.of(Pid(7), Tid(8)), comms.intern(b"app")], [app, app]);
        comms.forget(Tid(7));
        let unknown = comms.of(Pid(7), Tid(8));
        assert_eq!((unknown, comms.name(unknown)), (CommId(2), &b""[..]));
        assert_eq!(comms.name(CommId(9)), b"");
    }

    #[test]
    fn a_process_that_no_record_named_is_called_as_its_main_or_first_thread() {
        let mut comms = Comms::new(HeldMemory::UNCOUNTED);
        let names: [&[u8]; 5] = [b"", b"worker-0", b"worker-1", b"main", b"renamed"];
        let [none, first, second, main, renamed] = names.map(|name| comms.intern(name));
        let asked = |comms: &mut Comms, thread| comms.of_process(Pid(7), thread);
        assert_eq!(asked(&mut comms, none), none);
        assert_eq!([first, second].map(|it| asked(&mut comms, it)), [first, first]);
        comms.set(Tid(7), main);
        assert_eq!(asked(&mut comms, second), main);
        comms.name_unnamed_process(Pid(7), main);
        comms.set(Tid(7), renamed);
        comms.name_unnamed_process(Pid(7), renamed);
        assert_eq!(asked(&mut comms, second), main);
        comms.forget(Tid(7));
        comms.forget_process(Pid(7));
        assert_eq!(asked(&mut comms, second), second);
    }
}
