//! The names of threads: which there are, and which each thread has now.

use address::{Pid, Tid};
use budget::Held;
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
    held: Held,
}

/// Bytes of a name beside its own, which are there twice.
const NAME: usize = 64;
/// Bytes of a thread.
const THREAD: u64 = 2 * size_of::<(Tid, CommId)>() as u64;

impl Comms {
    /// Knows the idle task of each processor, thread 0, alone. What is to come is held as `held` is.
    pub(super) fn new(held: Held) -> Self {
        let (names, index, of_thread) = (Vec::new(), HashMap::new(), HashMap::new());
        let mut comms = Self { names, index, of_thread, held };
        let idle = comms.intern(b"swapper");
        comms.of_thread.insert(Tid(0), idle);
        comms
    }

    /// A thread has that name from now on.
    pub(super) fn set(&mut self, tid: Tid, comm: CommId) {
        if self.of_thread.insert(tid, comm).is_none() {
            self.held.add(THREAD);
        }
    }

    /// A thread is not going to be asked for again.
    pub(super) fn forget(&mut self, tid: Tid) {
        if self.of_thread.remove(&tid).is_some() {
            self.held.set(self.held.bytes().saturating_sub(THREAD));
        }
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
        let mut comms = Comms::new(Held::NOWHERE);
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
