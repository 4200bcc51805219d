//! The processes of the recording and their address spaces.

use std::collections::VecDeque;
use std::sync::Arc;

use address::{Pid, Timestamp};
use budget::HeldMemory;
use hashbrown::HashMap;

use super::hints::{InForce, Layer};
use super::relatives::Relatives;
use super::renewal::Renewal;
use super::waiting::{BuiltSpace, LazySpace, WaitingMaps};
use crate::space::Space;

/// A process image: a process between two of fork, exec and exit. Its modules rarely move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ProcessImage(pub u32);

/// Current state of a process.
#[derive(Debug)]
pub(super) struct Process {
    /// Its space, without the waiting maps.
    space: Arc<LazySpace>,
    pub(super) waiting: WaitingMaps,
    pub(super) image: ProcessImage,
    pub(super) threads: u32,
    pub(super) hints: InForce,
    /// True if it has executable memory without a file, which may be code compiled at run time.
    pub(super) has_code: bool,
    /// True if such memory still belongs to the parent's modules.
    pub(super) inherits_code: bool,
    /// Start of the process or of its program; 0 if that was before the recording.
    pub(super) began: Timestamp,
    /// Number of recorded executable mappings.
    pub(super) n_code: u32,
    /// Processes that may share its memory.
    pub(super) relatives: Relatives,
}

impl Process {
    pub(super) const fn new(space: Arc<LazySpace>, image: ProcessImage) -> Self {
        Self {
            space,
            waiting: WaitingMaps::NONE,
            image,
            threads: 1,
            hints: Vec::new(),
            has_code: false,
            inherits_code: false,
            began: Timestamp(0),
            n_code: 0,
            relatives: Relatives::NONE,
        }
    }

    /// Returns its space, including all its maps; nothing is built now.
    #[inline]
    pub(super) fn space(&mut self) -> &Arc<LazySpace> {
        if !self.waiting.is_empty() {
            self.space = LazySpace::after(self.space.clone(), self.waiting.take());
        }
        &self.space
    }

    /// Changes its space now, including all its maps. `change` also gets the hints in force.
    pub(super) fn change<R>(
        &mut self,
        change: impl FnOnce(&mut BuiltSpace, &[Arc<Layer>]) -> R,
    ) -> R {
        let Self { space, waiting, hints, .. } = self;
        let result = LazySpace::change(space, |made| {
            made.put(waiting.all());
            change(made, hints)
        });
        waiting.clear();
        result
    }

    /// Returns its space for a user that may never need it.
    pub(super) fn bounded_space(&mut self) -> &Arc<LazySpace> {
        let space = self.space();
        space.bound();
        space
    }

    /// Returns the initial state of a child.
    pub(super) fn inheritance(&mut self) -> Inheritance {
        let has_code = self.has_code;
        Inheritance { space: self.bounded_space().clone(), hints: self.hints.clone(), has_code }
    }
}

/// State that a process inherits from its parent.
#[derive(Debug)]
pub(super) struct Inheritance {
    pub(super) space: Arc<LazySpace>,
    pub(super) hints: InForce,
    pub(super) has_code: bool,
}

/// Number of exited processes that keep their spaces, for late samples.
const MAX_EXITED: usize = 1024;

/// All known processes, including recently exited ones.
#[derive(Debug)]
pub(super) struct Processes {
    known: HashMap<Pid, Process>,
    /// Exited processes, oldest first.
    exited: VecDeque<(Pid, ProcessImage)>,
    /// A space without mappings.
    empty: Arc<LazySpace>,
    n_images: u32,
    held: HeldMemory,
}

/// Accounted bytes of a process besides its space.
const PROCESS: usize = 2 * size_of::<(Pid, Process)>() + 64;

impl Processes {
    /// Creates an empty table: processes start with `empty` and are charged to the account of `held`.
    pub(super) fn new(empty: Arc<Space>, held: HeldMemory) -> Self {
        let empty = BuiltSpace { space: empty, covered: Vec::new() };
        let empty = Arc::new(LazySpace::of(empty));
        Self { known: HashMap::new(), exited: VecDeque::new(), empty, n_images: 0, held }
    }

    /// A space without mappings.
    pub(super) const fn empty(&self) -> &Arc<LazySpace> {
        &self.empty
    }

    pub(super) fn contains(&self, pid: Pid) -> bool {
        self.known.contains_key(&pid)
    }

    pub(super) fn get(&self, pid: Pid) -> Option<&Process> {
        self.known.get(&pid)
    }

    pub(super) fn get_mut(&mut self, pid: Pid) -> Option<&mut Process> {
        self.known.get_mut(&pid)
    }

    /// Returns a process, adding it without mappings if needed.
    pub(super) fn get_or_new(&mut self, pid: Pid) -> &mut Process {
        let Self { n_images, empty, held, .. } = self;
        self.known.entry(pid).or_insert_with(|| {
            *n_images += 1;
            held.add(PROCESS as u64);
            Process::new(empty.clone(), ProcessImage(*n_images))
        })
    }

    pub(super) fn insert(&mut self, pid: Pid, process: Process) {
        self.known.insert(pid, process);
        self.held.set((self.known.len() * PROCESS) as u64);
    }

    /// Returns a known process, and the account for its memory.
    pub(super) fn get_with_held(&mut self, pid: Pid) -> Option<(&mut Process, &HeldMemory)> {
        Some((self.known.get_mut(&pid)?, &self.held))
    }

    /// The account for the memory of processes.
    pub(super) fn held(&self) -> HeldMemory {
        self.held.another(0)
    }

    /// Gives all spaces the modules of a renewed timeline.
    pub(super) fn renew(&mut self, renewal: &mut Renewal<'_>) {
        renewal.space(&mut self.empty);
        for process in self.known.values_mut() {
            process.space();
            renewal.space(&mut process.space);
        }
    }

    /// Returns a new image number.
    pub(super) const fn new_image(&mut self) -> ProcessImage {
        self.n_images += 1;
        ProcessImage(self.n_images)
    }

    /// Records the end of a thread. A process remains readable after its last thread until many others have exited.
    /// Returns the process that is forgotten instead, if any.
    pub(super) fn exit(&mut self, pid: Pid) -> Option<Pid> {
        let process = self.known.get_mut(&pid)?;
        process.threads = process.threads.saturating_sub(1);
        if process.threads > 0 {
            return None;
        }
        self.exited.push_back((pid, process.image));
        let oldest = if self.exited.len() > MAX_EXITED { self.exited.pop_front() } else { None };
        // The id may belong to a new process by now.
        let (pid, image) = oldest?;
        let same = self.known.get(&pid).is_some_and(|process| process.image == image);
        same.then(|| self.known.remove(&pid).map(|_| pid)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_that_exited_are_kept_for_a_while() {
        let mut processes = Processes::new(Arc::new(Space::default()), HeldMemory::UNCOUNTED);
        processes.get_or_new(Pid(1)).threads += 1;
        assert_eq!(processes.exit(Pid(1)), None);
        for pid in 2..=1025 {
            processes.get_or_new(Pid(pid));
            assert_eq!(processes.exit(Pid(pid)), None);
        }
        // A process with a reused id is another one.
        let image = processes.new_image();
        assert_eq!(image, ProcessImage(1026));
        processes.insert(Pid(2), Process::new(processes.empty().clone(), image));
        processes.get_or_new(Pid(2000));
        assert_eq!(processes.exit(Pid(2000)), None);
        assert!(processes.contains(Pid(2)));
        processes.get_or_new(Pid(2001));
        assert_eq!(processes.exit(Pid(2001)), Some(Pid(3)));
        assert!(processes.contains(Pid(1)) && !processes.contains(Pid(3)));
        assert_eq!(processes.exit(Pid(9999)), None);
    }
}
