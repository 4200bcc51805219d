//! The names of threads: which there are, and which each thread has now.

use address::{Pid, Tid};
use hashbrown::HashMap;

/// The id of a thread name, dense.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CommId(pub u32);

/// Thread names, and the threads that have them.
#[derive(Debug)]
pub(super) struct Comms {
    names: Vec<Box<[u8]>>,
    index: HashMap<Box<[u8]>, CommId>,
    of_thread: HashMap<Tid, CommId>,
}

impl Comms {
    /// Knows the idle task of each processor, thread 0, alone.
    pub(super) fn new() -> Self {
        let mut comms =
            Self { names: Vec::new(), index: HashMap::new(), of_thread: HashMap::new() };
        let idle = comms.intern(b"swapper");
        comms.of_thread.insert(Tid(0), idle);
        comms
    }

    /// A thread has that name from now on.
    pub(super) fn set(&mut self, tid: Tid, comm: CommId) {
        self.of_thread.insert(tid, comm);
    }

    /// A thread is not going to be asked for again.
    pub(super) fn forget(&mut self, tid: Tid) {
        self.of_thread.remove(&tid);
    }

    /// The name of a thread, where it is known.
    pub(super) fn of_thread(&self, tid: Tid) -> Option<CommId> {
        self.of_thread.get(&tid).copied()
    }

    /// The name of a thread: its own, else that of its process, else empty.
    pub(super) fn of(&mut self, pid: Pid, tid: Tid) -> CommId {
        let known = self.of_thread(tid).or_else(|| self.of_thread(Tid(pid.0)));
        known.unwrap_or_else(|| self.intern(b""))
    }

    /// The bytes of a name.
    pub(super) fn name(&self, comm: CommId) -> &[u8] {
        self.names.get(comm.0 as usize).map_or(&[], |name| name)
    }

    /// The id of a name.
    pub(super) fn intern(&mut self, name: &[u8]) -> CommId {
        if let Some(&id) = self.index.get(name) {
            return id;
        }
        let id = CommId(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
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
        let mut comms = Comms::new();
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
}
