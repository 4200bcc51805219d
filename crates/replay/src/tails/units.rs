//! A function with its parts, and its tail calls.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::join::CodeContext;
use crate::tails::files::{DynamicSymbol, FdeRange, FileLookups, JumpTarget, code_at};
use crate::tails::jumps::{ExitTarget, Jumps};
use crate::tails::shared::SharedResults;

/// A jump to another function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TailCall {
    /// Address of the jump, in the file of the function.
    pub(super) site: u64,
    pub(super) to: Callee,
}

/// Target function of a jump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Callee {
    Function(FdeRange),
    Symbol(DynamicSymbol),
}

/// A function.
#[derive(Default, Debug)]
pub(super) struct Unit {
    /// Code ranges: the start, then the parts that it jumps into.
    pub(super) parts: Vec<FdeRange>,
    pub(super) tails: Vec<TailCall>,
    /// True if it can jump to unknown functions.
    pub(super) is_open: bool,
    /// True if its exits cannot be determined reliably.
    pub(super) is_unclear: bool,
}

/// Analyzed functions of all threads, by file and start.
pub(super) type SharedUnits = SharedResults<(u32, u64), Arc<Unit>>;

/// A thread's cache of analyzed functions.
#[derive(Default)]
pub(super) struct Units {
    shared: Arc<SharedUnits>,
    units: HashMap<(u32, u64), Arc<Unit>>,
    jumps: HashMap<(u32, u64), Option<Arc<Jumps>>>,
}

/// Maximum number of parts of a function.
const MOST_PARTS: usize = 16;
/// Maximum code size of one part, in bytes.
const LARGEST: u64 = 4 << 20;
/// Possible alignments of the next function after another.
const ALIGNMENTS: [u64; 4] = [1, 16, 32, 64];
const MAX_CACHED: usize = 1 << 16;

impl Unit {
    /// Returns true if its code contains an address of a file.
    pub(super) fn contains(&self, file: u32, svma: u64) -> bool {
        self.parts.iter().any(|part| part.contains(file, svma))
    }

    /// Returns true if one of its parts contains an address of a file after its start.
    fn contains_inside(&self, file: u32, svma: u64) -> bool {
        self.parts.iter().any(|part| part.contains(file, svma) && part.start != svma)
    }
}

impl Units {
    /// Creates the cache of a further thread.
    pub(super) fn sharing(shared: &Arc<SharedUnits>) -> Self {
        Self { shared: Arc::clone(shared), ..Self::default() }
    }

    /// Returns the function that begins with an FDE.
    pub(super) fn get(
        &mut self,
        start: FdeRange,
        files: &mut FileLookups,
        code: CodeContext<'_>,
    ) -> Arc<Unit> {
        let key = (start.file, start.start);
        if let Some(cached) = self.units.get(&key) {
            return Arc::clone(cached);
        }
        if self.units.len() >= MAX_CACHED {
            self.units.clear();
        }
        let shared = Arc::clone(&self.shared);
        let unit = shared.get(key, || Arc::new(self.make(start, files, code)));
        self.units.insert(key, Arc::clone(&unit));
        unit
    }

    fn make(&mut self, start: FdeRange, files: &mut FileLookups, code: CodeContext<'_>) -> Unit {
        let mut unit = Unit { parts: vec![start], ..Unit::default() };
        let mut at = 0;
        while let Some(&part) = unit.parts.get(at) {
            at += 1;
            let Some(jumps) = self.jumps(part, files, code) else {
                unit.is_unclear = true;
                break;
            };
            unit.is_unclear |= jumps.is_partial;
            for exit in &jumps.exits {
                let target = match exit.to {
                    // One of many jumps into the cold part.
                    ExitTarget::Code(target, _) if unit.contains_inside(part.file, target) => {
                        continue;
                    }
                    ExitTarget::Code(target, by) => files.target(part.file, target, by, code),
                    ExitTarget::Slot(slot) => files.slot(part.file, slot, code),
                    ExitTarget::Following => following(part, files, code),
                    // A switch leaves the frame as it is.
                    ExitTarget::Computed if !files.is_at_entry(part.file, exit.site, code) => {
                        continue;
                    }
                    ExitTarget::Computed => JumpTarget::Unknown,
                };
                unit.add(exit.site, target);
            }
        }
        unit
    }

    fn jumps(
        &mut self,
        part: FdeRange,
        files: &mut FileLookups,
        code: CodeContext<'_>,
    ) -> Option<Arc<Jumps>> {
        let key = (part.file, part.start);
        if let Some(cached) = self.jumps.get(&key) {
            return cached.clone();
        }
        if self.jumps.len() >= MAX_CACHED {
            self.jumps.clear();
        }
        let found = find_jumps(part, files, code).map(Arc::new);
        self.jumps.insert(key, found.clone());
        found
    }
}

impl Unit {
    fn add(&mut self, site: u64, target: JumpTarget) {
        match target {
            JumpTarget::Function(function) => {
                self.tails.push(TailCall { site, to: Callee::Function(function) });
            }
            JumpTarget::Symbol(name) => {
                self.tails.push(TailCall { site, to: Callee::Symbol(name) })
            }
            JumpTarget::Inside(part) if self.parts.contains(&part) => {}
            JumpTarget::Inside(part) if self.parts.len() < MOST_PARTS => self.parts.push(part),
            JumpTarget::Inside(_) => self.is_unclear = true,
            JumpTarget::Unknown => self.is_open = true,
        }
    }
}

fn find_jumps(part: FdeRange, files: &mut FileLookups, code: CodeContext<'_>) -> Option<Jumps> {
    let image = files.get(part.file)?;
    let len = part.end.checked_sub(part.start).filter(|&len| len <= LARGEST)?;
    files.allowance.within(code.engine.budget());
    if !files.allowance.has_left(&image) {
        return None;
    }
    let bytes = code_at(image.image(), part.start, usize::try_from(len).ok()?)?;
    let jumps = Jumps::of(part, files.decoder(part.file, bytes, part.start)?);
    files.allowance.used(&image, jumps.cost);
    Some(jumps)
}

/// Returns the code after a range, past the padding.
fn following(part: FdeRange, files: &mut FileLookups, code: CodeContext<'_>) -> JumpTarget {
    let next = ALIGNMENTS.into_iter().find_map(|alignment| {
        let at = part.end.checked_next_multiple_of(alignment)?;
        files.described(part.file, at, code).filter(|next| next.start == at)
    });
    match next {
        Some(next) if files.is_at_entry(part.file, next.start, code) => JumpTarget::Function(next),
        Some(next) => JumpTarget::Inside(next),
        None => JumpTarget::Unknown,
    }
}
