//! The one meaning of function filters: it decides which stacks are kept, and which of their functions remain. The
//! patterns are matched once for each function; a path from the root then combines a few bits per function.

use address::ById as _;
use hashbrown::HashMap;

use super::filter::{FunctionFilter, Patterns};
use crate::id::StringId;
use crate::profile::Profile;
use crate::query::functions::{Function, FunctionId};
use crate::tables::Table;

const FOCUSED: u32 = 1;
const IGNORED: u32 = 2;
const CHARGED: u32 = 4;
const HIDDEN: u32 = 8;
/// Bit of the first narrowing pattern; those of the others follow.
const NARROWING: u32 = 16;

/// The patterns that match each function.
#[derive(Debug)]
pub(super) struct FunctionRules {
    /// By function: bits of the patterns that match it.
    bits: Table<FunctionId, u32>,
    /// Bits that a stack must have.
    required: u32,
    /// All bits that some function has.
    present: u32,
}

/// Bits of the functions on a path from the root.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PathBits(u32);

impl PathBits {
    /// Adds a function, and returns true if the filter shows it there.
    pub(super) const fn enter(&mut self, function: u32) -> bool {
        self.0 |= function & !HIDDEN;
        function & HIDDEN == 0 && self.0 & CHARGED == 0
    }
}

impl FunctionRules {
    /// Matches the patterns of a filter with functions.
    pub(super) fn new(
        profile: &Profile,
        functions: &Table<FunctionId, Function>,
        filter: &FunctionFilter,
    ) -> Self {
        let FunctionFilter { focus, narrowing, ignore, hide, module, charge, .. } = filter;
        let narrowing = || narrowing.iter().zip((0..).map(|at| NARROWING << at));
        let mut modules: HashMap<Option<StringId>, bool> = HashMap::new();
        let mut bits_of = |function: &Function| {
            let is_of_module = module.is_empty()
                || *modules
                    .entry(function.module)
                    .or_insert_with(|| matches(profile, function.module, module));
            let bit = |patterns, bit| {
                if matches(profile, function.name, patterns) { bit } else { 0 }
            };
            let hidden = if is_of_module { bit(hide, HIDDEN) } else { HIDDEN };
            let bits = bit(focus, FOCUSED) | bit(ignore, IGNORED) | bit(charge, CHARGED) | hidden;
            narrowing().fold(bits, |bits, (patterns, it)| bits | bit(patterns, it))
        };
        let bits: Table<FunctionId, u32> = functions.iter().map(&mut bits_of).collect();
        let present = bits.iter().fold(0, |all, bits| all | bits);
        let required = if focus.is_empty() { 0 } else { FOCUSED };
        let required = narrowing().fold(required, |bits, (_, bit)| bits | bit);
        Self { bits, required, present }
    }

    /// Returns the bits of a function, for [`PathBits::enter`].
    pub(super) fn bits(&self, function: FunctionId) -> u32 {
        self.bits.as_slice().by_id(function).copied().unwrap_or(0)
    }

    /// Returns true if a stack is kept; `path` has all its functions.
    pub(super) const fn keeps(&self, path: PathBits) -> bool {
        path.0 & IGNORED == 0 && path.0 & self.required == self.required
    }

    /// Returns true if all stacks are kept.
    pub(super) const fn keeps_all(&self) -> bool {
        self.required == 0 && self.present & IGNORED == 0
    }

    /// Returns true if a function is removed with its callees.
    pub(super) const fn has_charged(&self) -> bool {
        self.present & CHARGED != 0
    }

    /// Returns true if all functions of all stacks are shown.
    pub(super) const fn shows_all(&self) -> bool {
        self.present & (CHARGED | HIDDEN) == 0
    }
}

/// Returns true if one of the patterns matches a part of the name.
pub(super) fn matches(profile: &Profile, name: Option<StringId>, patterns: &Patterns) -> bool {
    !patterns.is_empty() && name.is_some_and(|name| patterns.are_in(profile.strings.get(name)))
}
