//! Selection of comparable functions. The others are in a module without a partner, or have no name before or after.
//!
//! Unnamed code may belong to any function. A function that only one side names is not new or gone if the other side
//! has more unnamed code in the same module that could be it. The cost of unnamed code is measured as a share of the
//! module's frames.

use hashbrown::HashMap;

use super::confidence::Confidence;
use super::costs::RunCosts;
use super::matching::{DiffFunctionId, DiffName, Matching};
use super::modules::DiffModuleId;
use crate::tables::Table;

/// Reason that a function is not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotCompared {
    /// Its module has no partner.
    NoPartner,
    /// It has no name, before or after.
    NoName,
}

impl NotCompared {
    /// Keyword in output formats.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoPartner => "no-partner",
            Self::NoName => "no-name",
        }
    }
}

/// Minimum share of unnamed code, relative to a function, at which it could be that function.
const COULD_BE: f64 = 0.5;

/// Cost of a module's frames, before and after.
#[derive(Debug, Default, Clone, Copy)]
struct Frames {
    all: [f64; 2],
    unnamed: [f64; 2],
    /// Frames of functions without frames on the other side.
    only: [f64; 2],
}

impl Frames {
    /// Returns the unnamed share of one side minus that of the other.
    fn excess(&self, side: usize) -> f64 {
        let share = |side: usize| match (self.unnamed.get(side), self.all.get(side)) {
            (Some(unnamed), Some(all)) if *all > 0.0 => unnamed / all,
            _ => 0.0,
        };
        share(side) - share(1 - side)
    }

    fn share(&self, side: usize, frames: f64) -> f64 {
        self.all.get(side).filter(|&&all| all > 0.0).map_or(0.0, |all| frames / all)
    }
}

/// Returns, by function, the reason that it is not compared, or `None`. `runs`: costs of the recordings before and
/// after.
pub(super) fn not_compared(
    matching: &Matching,
    runs: [&[RunCosts]; 2],
    confidence: &Confidence,
) -> Table<DiffFunctionId, Option<NotCompared>> {
    let factors = [&confidence.before.factors, &confidence.after.factors];
    let frames_of = |function: DiffFunctionId| -> [f64; 2] {
        [0, 1].map(|side| {
            let runs = runs[side].iter().zip(factors[side]);
            let frames = runs.map(|(run, factor)| run.frames(function) * factor);
            frames.sum::<f64>() / factors[side].len().max(1) as f64
        })
    };
    let frames: Table<DiffFunctionId, [f64; 2]> = matching.functions.ids().map(frames_of).collect();
    let mut modules: HashMap<Option<DiffModuleId>, Frames> = HashMap::new();
    let rows = || matching.functions.iter().zip(frames.iter());
    for (key, frames) in rows() {
        let module = modules.entry(key.module).or_default();
        for (side, &own) in frames.iter().enumerate() {
            module.all[side] += own;
            if key.name == DiffName::Unknown {
                module.unnamed[side] += own;
            }
        }
    }
    // Returns the side of a one-sided function if the unnamed code of the other side could be that function.
    let could_be = |module: &Frames, frames: &[f64; 2]| -> Option<usize> {
        let side = match frames {
            [before, after] if *after == 0.0 && *before > 0.0 => 0,
            [before, after] if *before == 0.0 && *after > 0.0 => 1,
            _ => return None,
        };
        let excess = module.excess(1 - side);
        (excess > 0.0 && excess >= COULD_BE * module.share(side, frames[side])).then_some(side)
    };
    let copies = modules.clone();
    for (key, frames) in rows().filter(|(key, _)| is_function(key.name)) {
        let Some(module) = copies.get(&key.module) else { continue };
        if let Some(side) = could_be(module, frames)
            && let Some(module) = modules.get_mut(&key.module)
        {
            module.only[side] += frames[side];
        }
    }
    let state = |(key, frames): (&super::matching::FunctionKey, &[f64; 2])| {
        let row = key.module.and_then(|id| matching.modules.rows.get(id));
        if row.is_some_and(|row| row.paired.is_none()) {
            return Some(NotCompared::NoPartner);
        }
        let module = modules.get(&key.module).copied().unwrap_or_default();
        let is_unnamed = match key.name {
            DiffName::Unknown => differs(&module, frames),
            DiffName::Gap | DiffName::TailCalls | DiffName::NoFrames => false,
            DiffName::Named(_) | DiffName::At(_) => could_be(&module, frames).is_some(),
        };
        is_unnamed.then_some(NotCompared::NoName)
    };
    rows().map(state).collect()
}

fn is_function(name: DiffName) -> bool {
    matches!(name, DiffName::Named(_) | DiffName::At(_))
}

/// Returns true if the unnamed code of a module is not the same code before and after: it is on one side only, or
/// functions named on the other side are at least half of its excess.
fn differs(module: &Frames, frames: &[f64; 2]) -> bool {
    if frames.contains(&0.0) {
        return true;
    }
    [0, 1].into_iter().any(|side| {
        let excess = module.excess(side);
        let named = module.share(1 - side, module.only[1 - side]);
        excess > 0.0 && named >= COULD_BE * excess
    })
}
