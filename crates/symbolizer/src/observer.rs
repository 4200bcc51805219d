//! The observer of a run, which receives stage timings and can cancel it.

use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The stages of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SymbolStage {
    /// Symbol tables, and the data that determines the needed units; of prefetched data, the remaining work.
    Loading,
    /// Functions, inlined calls and lines from the units that contain requested addresses.
    LookingUp,
    /// Demangling, and assembly of the answers.
    Naming,
}

/// Observer of a run. Called from several threads.
pub trait SymbolObserver: Debug + Sync {
    /// A stage has ended.
    fn ended(&self, stage: SymbolStage, took: Duration);

    /// Returns true if the run is to end as soon as possible; called for each file and each unit. The result is then
    /// incomplete.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Time spent in the stages of runs. In a [`Mutex`], it is an observer that adds them up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SymbolTimings {
    /// Time in [`SymbolStage::Loading`].
    pub loading: Duration,
    /// Time in [`SymbolStage::LookingUp`].
    pub looking_up: Duration,
    /// Time in [`SymbolStage::Naming`].
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
