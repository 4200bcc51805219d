//! Processes that may share their memory: a parent and a child without an exec since the fork.
//! The record of a fork does not state whether the child has a copy of the memory or the memory itself (`CLONE_VM`).

use std::sync::Arc;

use address::Pid;

use super::processes::ProcessImage;
use super::timeline::Timeline;
use super::waiting::LazySpace;

/// Maximum number of relatives of a process; a new one replaces the oldest.
const MOST: usize = 8;

/// A process, and its number of executable mappings at the fork.
#[derive(Clone, Copy, Debug)]
struct Relative {
    pid: Pid,
    image: ProcessImage,
    n_code: u32,
}

/// Relatives of a process, oldest first.
#[derive(Debug)]
pub(super) struct Relatives(Vec<Relative>);

impl Relatives {
    pub(super) const NONE: Self = Self(Vec::new());

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&mut self, relative: Relative) {
        if self.0.len() == MOST {
            self.0.remove(0);
        }
        self.0.push(relative);
    }
}

/// The space of a process that may share the memory of another one.
#[derive(Clone, Debug)]
pub struct RelatedSpace {
    /// Process.
    pub pid: Pid,
    /// Its space.
    pub space: Arc<LazySpace>,
}

impl Timeline {
    /// Makes a process and its parent relatives.
    pub(super) fn relate(&mut self, child: Pid, parent: Pid) {
        let mut relative = |pid: Pid| {
            let process = self.processes.get_mut(pid)?;
            Some(Relative { pid, image: process.image, n_code: process.n_code })
        };
        let (Some(of_parent), Some(of_child)) = (relative(child), relative(parent)) else { return };
        for (pid, relative) in [(parent, of_parent), (child, of_child)] {
            if let Some(process) = self.processes.get_mut(pid) {
                process.relatives.add(relative);
            }
        }
    }

    /// Returns the spaces of a process's relatives that have mapped code since the fork.
    /// Forgets relatives that executed another program, or that ended without mapping code.
    #[cold]
    pub fn related_spaces(&mut self, pid: Pid) -> Vec<RelatedSpace> {
        let Some(process) = self.processes.get_mut(pid) else { return Vec::new() };
        let mut relatives = std::mem::replace(&mut process.relatives, Relatives::NONE);
        let mut spaces = Vec::new();
        relatives.0.retain(|relative| {
            let Some(process) = self.processes.get_mut(relative.pid) else { return false };
            let has_code = process.n_code != relative.n_code;
            if process.image != relative.image || (process.threads == 0 && !has_code) {
                return false;
            }
            if has_code {
                let space = process.space().clone();
                spaces.push(RelatedSpace { pid: relative.pid, space });
            }
            true
        });
        if let Some(process) = self.processes.get_mut(pid) {
            process.relatives = relatives;
        }
        spaces
    }
}
