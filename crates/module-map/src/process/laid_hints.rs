//! Hints at work: which of them are in force in a process, and what fork and exec do to them.

use address::{Avma, FileOffset, ModuleId, Pid};

use super::journal::Journal;
use crate::space::{Mapping, Space};
use options::HintScope;

/// A hint with the module of its file.
#[derive(Debug)]
pub(crate) struct LaidHint {
    pub(crate) scope: HintScope,
    pub(crate) mapping: Mapping,
    /// A recorded map of its own process reached into its range.
    pub(crate) reached: bool,
    /// The image of the process that it was given for has ended.
    pub(crate) ended: bool,
    /// How often its process was forked.
    pub(crate) forks: u32,
}

impl LaidHint {
    pub(crate) fn new(
        scope: HintScope,
        start: Avma,
        end: Avma,
        offset: FileOffset,
        module: ModuleId,
    ) -> Self {
        let mapping = Mapping { start, end, offset, module, executable: true, writable: false };
        Self { scope, mapping, reached: false, ended: false, forks: 0 }
    }
}

/// All hints, broad ones first, so that narrower ones are laid over them.
#[derive(Debug, Default)]
pub(crate) struct LaidHints {
    all: Vec<LaidHint>,
}

/// The hints in force in a process, as indexes.
pub(crate) type InForce = Vec<u32>;

impl LaidHints {
    pub(crate) const fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether a module is the file of a hint.
    pub(crate) fn has(&self, module: ModuleId) -> bool {
        self.all.iter().any(|hint| hint.mapping.module == module)
    }

    pub(crate) fn push(&mut self, hint: LaidHint) {
        let rank = |hint: &LaidHint| match hint.scope {
            HintScope::All => 0,
            HintScope::Comm(_) => 1,
            HintScope::Process(_) => 2,
        };
        self.all.push(hint);
        self.all.sort_by_key(rank);
    }

    /// The hints that a process has by itself, under that name.
    pub(crate) fn own(&self, pid: Pid, comm: &[u8]) -> InForce {
        let wanted = |hint: &LaidHint| {
            !hint.ended
                && match &hint.scope {
                    HintScope::All => true,
                    HintScope::Comm(name) => **name == *comm,
                    HintScope::Process(owner) => *owner == pid,
                }
        };
        self.all.iter().zip(0..).filter(|(hint, _)| wanted(hint)).map(|(_, index)| index).collect()
    }

    /// A process came into being by fork. The first record of that is its birth; one more is another process under
    /// the same id, and a hint whose memory had been seen by then was not meant for it.
    pub(crate) fn forked(&mut self, pid: Pid) {
        for hint in self.of(pid) {
            hint.forks += 1;
            hint.ended |= hint.forks > 1 && hint.reached;
        }
    }

    /// A process became another program. A hint was meant for the program that mapped its range; where none did yet,
    /// it waits.
    pub(crate) fn executed(&mut self, pid: Pid) {
        for hint in self.of(pid) {
            hint.ended |= hint.reached;
        }
    }

    fn of(&mut self, pid: Pid) -> impl Iterator<Item = &mut LaidHint> {
        self.all.iter_mut().filter(move |hint| hint.scope == HintScope::Process(pid))
    }

    /// Lays the hints in force over a space again, where a new map of `pid` from `start` to `end` covered them.
    pub(crate) fn lay(
        &mut self,
        in_force: &[u32],
        space: &mut Space,
        (pid, start, end): (Pid, Avma, Avma),
        journal: &mut Journal,
    ) {
        for &index in in_force {
            let Some(hint) = self.all.get_mut(index as usize) else { continue };
            if hint.mapping.start < end && start < hint.mapping.end {
                space.map(hint.mapping);
                journal.add(pid, &hint.mapping);
                hint.reached |= hint.scope == HintScope::Process(pid);
            }
        }
    }

    /// Lays all hints in force over a space that begins with them.
    pub(crate) fn begin(
        &self,
        in_force: &[u32],
        space: &mut Space,
        pid: Pid,
        journal: &mut Journal,
    ) {
        for hint in in_force.iter().filter_map(|&index| self.all.get(index as usize)) {
            space.map(hint.mapping);
            journal.add(pid, &hint.mapping);
        }
    }
}
