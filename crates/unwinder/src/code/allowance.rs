//! How many instructions of each file a thread may look at: hostile code has more ways through it than anybody can go.

use std::collections::BTreeMap;
use std::path::PathBuf;

use budget::{Allowance, Budget, Exhausted, Resource};
use hashbrown::HashMap;
use image_store::LoadedImage;

/// How many instructions may still be looked at, by the file's serial.
#[derive(Default, Debug)]
pub struct CodeAllowance {
    budget: Budget,
    left: HashMap<u32, Allowance>,
    exhausted: BTreeMap<PathBuf, Exhausted>,
}

impl CodeAllowance {
    /// The same within a budget, where nothing was used yet.
    pub fn within(&mut self, budget: &Budget) {
        if self.left.is_empty() {
            self.budget = *budget;
        }
    }

    /// Whether more code of a file may be looked at. Where it may not, that is told in the end.
    pub fn has_left(&mut self, file: &LoadedImage) -> bool {
        let allowance = self.of(file);
        let Err(exhausted) = allowance.clone().take(1) else { return true };
        self.exhausted.entry(file.image().path().to_owned()).or_insert(exhausted);
        false
    }

    /// Looking at code of a file cost as much as so many instructions, which may be more than was left.
    pub fn used(&mut self, file: &LoadedImage, cost: usize) {
        let _ = self.of(file).take(cost as u64);
    }

    /// The files of which no more may be looked at.
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
