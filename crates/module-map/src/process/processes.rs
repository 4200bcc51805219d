//! The processes of the recording and their address spaces.

use std::collections::VecDeque;
use std::sync::Arc;

use address::{Pid, Timestamp};
use budget::Held;
use hashbrown::HashMap;

use super::hints::{InForce, Layer};
use super::relatives::Relatives;
use super::waiting::{LazySpace, MadeSpace, WaitingMaps};
use crate::space::Space;

/// A process image: a process between two of fork, exec and exit. Its modules do not move about as a rule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ProcessImage(pub u32);

/// A process as it is now.
#[derive(Debug)]
pub(super) struct Process {
    /// Its space, without the maps that wait.
    space: Arc<LazySpace>,
    pub(super) waiting: WaitingMaps,
    pub(super) image: ProcessImage,
    pub(super) threads: u32,
    pub(super) hints: InForce,
    /// It has executable memory without a file, which may be code that was compiled at run time.
    pub(super) has_code: bool,
    /// Such memory is still that of its parent.
    pub(super) inherits_code: bool,
    /// When the process began, or executed its program; 0 if that was before the recording.
    pub(super) began: Timestamp,
    /// How many executable mappings were recorded for it.
    pub(super) n_code: u32,
    /// The processes that may share its memory.
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

    /// Its space, in which all of its maps are going to be; nothing is put into it now.
    #[inline]
    pub(super) fn space(&mut self) -> &Arc<LazySpace> {
        if !self.waiting.is_empty() {
            self.space = LazySpace::after(self.space.clone(), self.waiting.take());
        }
        &self.space
    }

    /// Changes its space now, in which all of its maps are then. The hints that are in force are given along.
    pub(super) fn change<R>(
        &mut self,
        change: impl FnOnce(&mut MadeSpace, &[Arc<Layer>]) -> R,
    ) -> R {
        let Self { space, waiting, hints, .. } = self;
        let result = LazySpace::change(space, |made| {
            made.put(waiting.all());
            change(made, hints)
        });
        waiting.clear();
        result
    }

    /// Its space when nobody may ever need it.
    pub(super) fn bounded_space(&mut self) -> &Arc<LazySpace> {
        let space = self.space();
        space.bound();
        space
    }

    /// What a child begins with.
    pub(super) fn inheritance(&mut self) -> Inheritance {
        let has_code = self.has_code;
        Inheritance { space: self.bounded_space().clone(), hints: self.hints.clone(), has_code }
    }
}

/// What a process has of its parent.
#[derive(Debug)]
pub(super) struct Inheritance {
    pub(super) space: Arc<LazySpace>,
    pub(super) hints: InForce,
    pub(super) has_code: bool,
}

/// How many processes that have exited keep their spaces, for samples that come late.
const EXITED_KEPT: usize = 1024;

/// All processes that are known, those that exited lately among them.
#[derive(Debug)]
pub(super) struct Processes {
    known: HashMap<Pid, Process>,
    /// Those that exited, the first in front.
    exited: VecDeque<(Pid, ProcessImage)>,
    /// A space without mappings.
    empty: Arc<LazySpace>,
    n_images: u32,
    held: Held,
}

/// Bytes of a process beside its space.
const PROCESS: usize = 2 * size_of::<(Pid, Process)>() + 64;

impl Processes {
    /// No process; those to come begin with `empty` and are held as `held` is.
    pub(super) fn new(empty: Arc<Space>, held: Held) -> Self {
        let empty = MadeSpace { space: empty, covered: Vec::new() };
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

    /// A process; it begins without mappings where it is not known.
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

    /// A process that is known, and how what it is given is held.
    pub(super) fn get_with_held(&mut self, pid: Pid) -> Option<(&mut Process, &Held)> {
        Some((self.known.get_mut(&pid)?, &self.held))
    }

    /// An image that no process had.
    pub(super) const fn new_image(&mut self) -> ProcessImage {
        self.n_images += 1;
        ProcessImage(self.n_images)
    }

    /// A thread ended. Its process, if that was the last one, stays readable until many others have exited after it:
    /// the process that is forgotten for it, if any.
    pub(super) fn exit(&mut self, pid: Pid) -> Option<Pid> {
        let process = self.known.get_mut(&pid)?;
        process.threads = process.threads.saturating_sub(1);
        if process.threads > 0 {
            return None;
        }
        self.exited.push_back((pid, process.image));
        let oldest = if self.exited.len() > EXITED_KEPT { self.exited.pop_front() } else { None };
        // Under the same id another process may have come into being meanwhile.
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
        let mut processes = Processes::new(Arc::new(Space::default()), Held::NOWHERE);
        processes.get_or_new(Pid(1)).threads += 1;
        assert_eq!(processes.exit(Pid(1)), None);
        for pid in 2..=1025 {
            processes.get_or_new(Pid(pid));
            assert_eq!(processes.exit(Pid(pid)), None);
        }
        // A process of an id that is used again is another one.
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
