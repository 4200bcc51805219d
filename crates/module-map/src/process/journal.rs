//! A journal of what the timeline knows beyond the recorded maps, for a copy of the recording that has it.

use address::Pid;

use crate::space::Mapping;

/// Mappings that came from hints, JIT dumps and inference, in the order in which they took effect.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    pub(crate) on: bool,
    pub(crate) rows: Vec<(Pid, Mapping)>,
}

impl Journal {
    pub(crate) fn add(&mut self, pid: Pid, mapping: &Mapping) {
        if self.on {
            self.rows.push((pid, *mapping));
        }
    }
}
