//! The threads of the samples, and the owner of each sample's stack.

use address::{Pid, Tid};
use hashbrown::HashMap;
use module_map::{CgroupId, CommId, ProcessImage};

use crate::join::StackOwner;

/// A thread under one name, in a process under one name, in one control group.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Thread {
    /// Its process.
    pub pid: Pid,
    /// Its id.
    pub tid: Tid,
    /// Its name at the time; [`module_map::Timeline::comm_name`] has the bytes.
    pub comm: CommId,
    /// The name of its process at the time, by [`module_map::Timeline::process_name`].
    pub process: CommId,
    /// Its control group at the time, if recorded; [`module_map::Timeline::cgroup_path`] has its path.
    pub cgroup: Option<CgroupId>,
}

/// Entries of the cache in front of the tables, shared by thread ids.
const LAST: usize = 256;

/// Threads and stacks, in the order of their first samples.
#[derive(Debug)]
pub(crate) struct Threads {
    all: Vec<Thread>,
    index: HashMap<Thread, u32>,
    /// Stacks by process image, thread id and the number of reuses of that id.
    owners: HashMap<(ProcessImage, Tid, u32), StackOwner>,
    /// Number of times that a thread id was reused.
    births: HashMap<Tid, u32>,
    last_threads: Vec<Option<(Thread, u32)>>,
    last_owners: Vec<Option<(ProcessImage, Tid, StackOwner)>>,
}

impl Threads {
    pub(crate) fn new() -> Self {
        Self {
            all: Vec::new(),
            index: HashMap::new(),
            owners: HashMap::new(),
            births: HashMap::new(),
            last_threads: vec![None; LAST],
            last_owners: vec![None; LAST],
        }
    }

    /// Returns the index of a thread, adding it if needed.
    pub(crate) fn index(&mut self, thread: Thread) -> u32 {
        let Self { all, index, last_threads, .. } = self;
        let last = last_threads.get_mut(slot_of(thread.tid));
        if let Some(&mut Some((known, at))) = last
            && known == thread
        {
            return at;
        }
        let at = *index.entry(thread).or_insert_with(|| {
            all.push(thread);
            all.len() as u32 - 1
        });
        if let Some(last) = last_threads.get_mut(slot_of(thread.tid)) {
            *last = Some((thread, at));
        }
        at
    }

    /// Returns the owner of the stack of a thread in a process image.
    pub(crate) fn owner(&mut self, process_image: ProcessImage, tid: Tid) -> StackOwner {
        let last = self.last_owners.get(slot_of(tid)).copied().flatten();
        if let Some((_, _, owner)) = last.filter(|last| (last.0, last.1) == (process_image, tid)) {
            return owner;
        }
        let birth = self.births.get(&tid).copied().unwrap_or(0);
        let next = StackOwner(self.owners.len() as u32);
        let owner = *self.owners.entry((process_image, tid, birth)).or_insert(next);
        if let Some(last) = self.last_owners.get_mut(slot_of(tid)) {
            *last = Some((process_image, tid, owner));
        }
        owner
    }

    /// Records the reuse of a thread id by a new thread.
    pub(crate) fn born(&mut self, tid: Tid) {
        *self.births.entry(tid).or_default() += 1;
        if let Some(last) = self.last_owners.get_mut(slot_of(tid)) {
            *last = None;
        }
    }

    /// All threads by index.
    pub(crate) fn all(&self) -> &[Thread] {
        &self.all
    }

    /// All threads by index.
    pub(crate) fn into_all(self) -> Vec<Thread> {
        self.all
    }

    /// Size of the tables, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.all.capacity() * size_of::<Thread>()
            + self.index.allocation_size()
            + self.owners.allocation_size()
            + self.births.allocation_size()
    }
}

/// Cache entry of a thread id.
const fn slot_of(tid: Tid) -> usize {
    tid.0 as usize % LAST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_first_samples() {
        let mut threads = Threads::new();
        let thread = |tid, comm| {
            let comm = CommId(comm);
            Thread { pid: Pid(1), tid: Tid(tid), comm, process: CommId(0), cgroup: None }
        };
        // 1 and 257 share a cache entry.
        let order = [(1, 0), (257, 0), (1, 0), (1, 1), (257, 0), (1, 1), (1, 0)];
        let numbers = order.map(|(tid, comm)| threads.index(thread(tid, comm)));
        assert_eq!(numbers, [0, 1, 0, 2, 1, 2, 0]);
        assert_eq!(threads.all(), [thread(1, 0), thread(257, 0), thread(1, 1)]);
    }

    #[test]
    fn a_stack_ends_with_its_thread_and_with_its_process_image() {
        let mut threads = Threads::new();
        let mut owner = |image, tid| threads.owner(ProcessImage(image), Tid(tid)).0;
        assert_eq!(
            [(1, 1), (1, 1), (1, 257), (1, 1), (2, 1)].map(|(i, t)| owner(i, t)),
            [0, 0, 1, 0, 2]
        );
        threads.born(Tid(1));
        let mut owner = |image, tid| threads.owner(ProcessImage(image), Tid(tid)).0;
        assert_eq!([(1, 1), (1, 257), (2, 1), (1, 1)].map(|(i, t)| owner(i, t)), [3, 1, 4, 3]);
        threads.born(Tid(9));
        assert_eq!(threads.owner(ProcessImage(1), Tid(1)).0, 3);
    }
}
