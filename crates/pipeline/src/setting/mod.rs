//! The inputs of a run, and the state that it shares with others.

mod shared_state;

use std::sync::{Arc, Mutex, PoisonError};

use budget::MemoryBudget;
use cache::Cache;
use host::Host;
use options::{Options, Spelling};

use self::shared_state::Generation;
use crate::observer::Observer;

pub(crate) use self::shared_state::SharedState;

/// The inputs of a run: host, shared state, options and observer.
#[derive(Debug)]
pub(crate) struct Setting<'a> {
    pub(crate) host: &'a Arc<dyn Host>,
    /// The opened images and their unwind rules.
    pub(crate) shared: Mutex<Generation>,
    pub(crate) options: &'a Options,
    pub(crate) observer: &'a Arc<dyn Observer>,
    /// The spelling of options in advice.
    pub(crate) spelling: Spelling,
    /// Memory accounting of the run.
    pub(crate) memory: Arc<MemoryBudget>,
    /// The names and unwind rules of earlier runs.
    pub(crate) cache: Option<Arc<Cache>>,
}

impl Setting<'_> {
    /// Returns the opened images and their unwind rules.
    pub(crate) fn shared(&self) -> Generation {
        // A panic in another thread leaves a valid value.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Continues without opened images and rules, which no other run gets from now on.
    pub(crate) fn renew(&self) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        *shared = shared.renewed();
    }
}
