//! Inference, labelled as such: memory without a file that is still the code of a file.

use address::{Avma, ModuleId, Pid};

use super::Timeline;
use crate::module::ModuleKind;
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

impl Timeline {
    /// Text that is moved to huge pages comes back as memory without a file in the place of a piece of code: exactly
    /// its range, or whole huge pages within it. Then it is still that code.
    pub(super) fn infer(&mut self, pid: Pid, piece: Piece) -> Piece {
        const COVERED_KEPT: usize = 16;
        const HUGE: u64 = 2 << 20;
        self.process(pid);
        let Some(process) = self.processes.get_mut(&pid) else { return piece };
        let before = process.space.lookup(piece.start);
        let (hints, modules) = (&self.hints, self.modules.all());
        let code = |old: &&Piece| {
            let module = modules.get(old.module.index());
            old.executable
                && module.is_some_and(|module| module.kind == ModuleKind::File)
                && !hints.has(old.module)
        };
        if !piece.executable {
            if let Some(old) = before.filter(code).filter(|old| piece.end <= old.end) {
                if process.covered.len() == COVERED_KEPT {
                    process.covered.remove(0);
                }
                process.covered.push(old.part(piece.start, piece.end));
            }
            return piece;
        }
        let whole = |old: &&Piece| {
            let exact = old.start == piece.start && old.end == piece.end;
            let huge = piece.start.0.is_multiple_of(HUGE) && piece.end.0.is_multiple_of(HUGE);
            exact || (huge && old.start <= piece.start && piece.end <= old.end)
        };
        let old = before.filter(code).into_iter().chain(process.covered.iter().rev());
        let Some(old) =
            old.filter(|old| whole(old)).map(|old| old.part(piece.start, piece.end)).next()
        else {
            return piece;
        };
        self.journal.add(pid, &old);
        self.inferences.push(Inference { pid, start: old.start, end: old.end, module: old.module });
        old
    }

    /// Memory without a file that was taken for the file that had been mapped there before, in the order of time.
    #[must_use]
    pub fn inferences(&self) -> &[Inference] {
        &self.inferences
    }
}
