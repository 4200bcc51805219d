//! Journal of mappings that are not recorded maps, for a copy of the recording that contains them.

use address::Pid;

use crate::space::Mapping;

/// Mappings from hints, JIT dumps and inference, in order of their effect.
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
