//! Instruction budget of each file, per thread: hostile code has more paths than can be followed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use budget::{Allowance, Budget, Exhausted, Resource};
use hashbrown::HashMap;
use image_store::LoadedImage;

/// Number of instructions that may still be examined, by the file's serial.
#[derive(Default, Debug)]
pub struct CodeAllowance {
    budget: Budget,
    left: HashMap<u32, Allowance>,
    exhausted: BTreeMap<PathBuf, Exhausted>,
}

impl CodeAllowance {
    /// Sets the budget, unless some of it is already used.
    pub fn within(&mut self, budget: &Budget) {
        if self.left.is_empty() {
            self.budget = *budget;
        }
    }

    /// Returns true if more code of a file may be examined. Otherwise, the file is reported in the end.
    pub fn has_left(&mut self, file: &LoadedImage) -> bool {
        let allowance = self.of(file);
        let Err(exhausted) = allowance.clone().take(1) else { return true };
        self.exhausted.entry(file.image().path().to_owned()).or_insert(exhausted);
        false
    }

    /// Deducts the cost of examined code of a file, in instructions. It may exceed the remaining budget.
    pub fn used(&mut self, file: &LoadedImage, cost: usize) {
        let _ = self.of(file).take(cost as u64);
    }

    /// Returns the files that exhausted their budget.
    #[must_use]
    pub fn into_exhausted(self) -> BTreeMap<PathBuf, Exhausted> {
        self.exhausted
    }

    fn of(&mut self, file: &LoadedImage) -> &mut Allowance {
        let Self { budget, left, .. } = self;
        let bytes = file.image().bytes().len() as u64;
        left.entry(file.serial)
            .or_insert_with(|| budget.allowance(Resource::CodeInstructions, bytes))
    }
}
