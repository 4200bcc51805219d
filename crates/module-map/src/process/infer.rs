//! Inference, labelled as such: memory without a file that is still the code of a file.

use std::sync::Arc;

use address::{Avma, ModuleId, Pid};

use super::laid_hints::LaidHints;
use super::processes::Process;
use crate::module::{MappedKind, Module};
use crate::space::Mapping;

/// Memory without a file that was taken for the file that had been mapped there before.
#[derive(Clone, Debug)]
pub struct Inference {
    /// The process.
    pub pid: Pid,
    /// The first address.
    pub start: Avma,
    /// The address past the last.
    pub end: Avma,
    /// The file that was mapped there before.
    pub module: ModuleId,
}

impl Inference {
    pub(super) const fn new(pid: Pid, mapping: &Mapping) -> Self {
        Self { pid, start: mapping.start, end: mapping.end, module: mapping.module }
    }
}

/// By what mappings of files are known.
#[derive(Clone, Copy)]
pub(super) struct KnownFiles<'a> {
    pub(super) modules: &'a [Arc<Module>],
    pub(super) hints: &'a LaidHints,
}

impl KnownFiles<'_> {
    fn is_code(self, mapping: &Mapping) -> bool {
        let module = self.modules.get(mapping.module.index());
        mapping.executable
            && module.is_some_and(|module| module.kind == MappedKind::File)
            && !self.hints.has(mapping.module)
    }
}

/// The code that a mapping of memory without a file still is. Text that is moved to huge pages comes back as such memory in
/// the place of a mapping of code: exactly its range, or whole huge pages within it.
pub(super) fn infer(
    process: &mut Process,
    mapping: &Mapping,
    files: KnownFiles<'_>,
) -> Option<Mapping> {
    const COVERED_KEPT: usize = 16;
    const HUGE: u64 = 2 << 20;
    let before = process.space.lookup(mapping.start).filter(|old| files.is_code(old));
    if !mapping.executable {
        if let Some(old) = before.filter(|old| mapping.end <= old.end) {
            if process.covered.len() == COVERED_KEPT {
                process.covered.remove(0);
            }
            process.covered.push(old.part(mapping.start, mapping.end));
        }
        return None;
    }
    let whole = |old: &&Mapping| {
        let exact = old.start == mapping.start && old.end == mapping.end;
        let huge = mapping.start.0.is_multiple_of(HUGE) && mapping.end.0.is_multiple_of(HUGE);
        exact || (huge && old.start <= mapping.start && mapping.end <= old.end)
    };
    let mut old = before.iter().chain(process.covered.iter().rev());
    old.find(whole).map(|old| old.part(mapping.start, mapping.end))
}
