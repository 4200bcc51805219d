//! Inference, marked as such: memory without a file that still contains the code of a file.

use address::{Avma, ModuleId, Pid};

use super::hints::ActiveHints;
use crate::module::MappedKind;
use crate::space::{Mapping, Space};

/// Memory without a file that is identified with the file mapped there before.
#[derive(Clone, Debug)]
pub struct Inference {
    /// Process.
    pub pid: Pid,
    /// First address.
    pub start: Avma,
    /// End address, exclusive.
    pub end: Avma,
    /// The file that was mapped there before.
    pub module: ModuleId,
}

impl Inference {
    pub(super) const fn new(pid: Pid, mapping: &Mapping) -> Self {
        Self { pid, start: mapping.start, end: mapping.end, module: mapping.module }
    }
}

/// Returns true if a mapping is code of a recorded file rather than of a hint.
fn is_code(space: &Space, mapping: &Mapping, hints: Option<&ActiveHints>) -> bool {
    mapping.executable
        && space.module(mapping).is_some_and(|module| module.kind == MappedKind::File)
        && !hints.is_some_and(|hints| hints.has(mapping.module))
}

/// Returns the code that a mapping of memory without a file still contains.
/// Text moved to huge pages becomes such memory in place of a code mapping:
/// exactly its range, or whole huge pages in it.
/// `covered` are code mappings that such memory replaced.
pub(super) fn infer(
    space: &Space,
    covered: &mut Vec<Mapping>,
    mapping: &Mapping,
    hints: Option<&ActiveHints>,
) -> Option<Mapping> {
    const MAX_COVERED: usize = 16;
    const HUGE: u64 = 2 << 20;
    let before = space.lookup(mapping.start).filter(|old| is_code(space, old, hints));
    if !mapping.executable {
        if let Some(old) = before.filter(|old| mapping.end <= old.end) {
            if covered.len() == MAX_COVERED {
                covered.remove(0);
            }
            covered.push(old.part(mapping.start, mapping.end));
        }
        return None;
    }
    let whole = |old: &&Mapping| {
        let exact = old.start == mapping.start && old.end == mapping.end;
        let huge = mapping.start.0.is_multiple_of(HUGE) && mapping.end.0.is_multiple_of(HUGE);
        exact || (huge && old.start <= mapping.start && mapping.end <= old.end)
    };
    let mut old = before.iter().chain(covered.iter().rev());
    old.find(whole).map(|old| old.part(mapping.start, mapping.end))
}
