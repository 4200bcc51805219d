//! Inference, labelled as such: memory without a file that is still the code of a file.

use std::sync::Arc;

use address::{Avma, ModuleId, Pid};

use super::hints::Hints;
use super::{Process, Timeline};
use crate::module::{Module, ModuleKind};
use crate::space::Piece;

/// Memory without a file that was taken for the file that had been mapped there before.
#[derive(Clone, Debug)]
pub struct Inference {
    /// The process.
    pub pid: Pid,
    /// The first address.
    pub start: Avma,
    /// The address behind the last.
    pub end: Avma,
    /// The file that was mapped there before.
    pub module: ModuleId,
}

impl Inference {
    pub(super) const fn new(pid: Pid, piece: &Piece) -> Self {
        Self { pid, start: piece.start, end: piece.end, module: piece.module }
    }
}

/// What tells which pieces are of files that were mapped.
#[derive(Clone, Copy)]
pub(super) struct Files<'a> {
    pub(super) modules: &'a [Arc<Module>],
    pub(super) hints: &'a Hints,
}

impl Files<'_> {
    fn is_code(self, piece: &Piece) -> bool {
        let module = self.modules.get(piece.module.index());
        piece.executable
            && module.is_some_and(|module| module.kind == ModuleKind::File)
            && !self.hints.has(piece.module)
    }
}

/// The code that a piece of memory without a file still is. Text that is moved to huge pages comes back as such memory in
/// the place of a piece of code: exactly its range, or whole huge pages within it.
pub(super) fn infer(process: &mut Process, piece: &Piece, files: Files<'_>) -> Option<Piece> {
    const COVERED_KEPT: usize = 16;
    const HUGE: u64 = 2 << 20;
    let before = process.space.lookup(piece.start).filter(|old| files.is_code(old));
    if !piece.executable {
        if let Some(old) = before.filter(|old| piece.end <= old.end) {
            if process.covered.len() == COVERED_KEPT {
                process.covered.remove(0);
            }
            process.covered.push(old.part(piece.start, piece.end));
        }
        return None;
    }
    let whole = |old: &&Piece| {
        let exact = old.start == piece.start && old.end == piece.end;
        let huge = piece.start.0.is_multiple_of(HUGE) && piece.end.0.is_multiple_of(HUGE);
        exact || (huge && old.start <= piece.start && piece.end <= old.end)
    };
    let mut old = before.into_iter().chain(process.covered.iter().rev());
    old.find(whole).map(|old| old.part(piece.start, piece.end))
}

impl Timeline {
    /// Memory without a file that was taken for the file that had been mapped there before, in the order of time.
    #[must_use]
    pub fn inferences(&self) -> &[Inference] {
        &self.inferences
    }
}
