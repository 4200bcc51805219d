//! A journal of what the timeline knows beyond the recorded maps, for who writes the recording anew.

use address::Pid;

use crate::space::Piece;

/// Pieces that came from hints, JIT dumps and inference, in the order in which they took effect.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    pub(crate) on: bool,
    pub(crate) rows: Vec<(Pid, Piece)>,
}

impl Journal {
    pub(crate) fn add(&mut self, pid: Pid, piece: &Piece) {
        if self.on {
            self.rows.push((pid, *piece));
        }
    }
}
