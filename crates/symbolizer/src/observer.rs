//! The observer of a run: it learns what took how long, and is asked whether the run is still wanted.

use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The stages of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SymbolStage {
    /// Symbol tables, and what says which units are needed; of what was prefetched, what was left to do.
    Loading,
    /// Functions, inlines and lines out of the units that were hit.
    LookingUp,
    /// Demangling, and putting the answers together.
    Naming,
}

/// Watches a run. Called from several threads.
pub trait SymbolObserver: Debug + Sync {
    /// A stage has ended.
    fn ended(&self, stage: SymbolStage, took: Duration);

    /// Whether the run is to end as soon as it can: asked for each file and each unit. What the run gives then is not
    /// complete.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Where the time of runs went. In a [`Mutex`] an observer that adds them up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SymbolTimings {
    /// For [`SymbolStage::Loading`].
    pub loading: Duration,
    /// For [`SymbolStage::LookingUp`].
    pub looking_up: Duration,
    /// For [`SymbolStage::Naming`].
    pub naming: Duration,
}

impl SymbolObserver for Mutex<SymbolTimings> {
    fn ended(&self, stage: SymbolStage, took: Duration) {
        let mut timings = self.lock().unwrap_or_else(PoisonError::into_inner);
        *match stage {
            SymbolStage::Loading => &mut timings.loading,
            SymbolStage::LookingUp => &mut timings.looking_up,
            SymbolStage::Naming => &mut timings.naming,
        } += took;
    }
}
