//! The inputs of a run.

use std::sync::Arc;

use budget::MemoryBudget;
use cache::Cache;
use host::Host;
use options::{Options, Spelling};

use crate::observer::Observer;
use crate::shared_state::Generation;

/// The inputs of a run: host, shared state, options and observer.
#[derive(Debug)]
pub(crate) struct Setting<'a> {
    pub(crate) host: &'a Arc<dyn Host>,
    pub(crate) shared: Generation,
    pub(crate) options: &'a Options,
    pub(crate) observer: &'a Arc<dyn Observer>,
    /// The spelling of options in advice.
    pub(crate) spelling: Spelling,
    /// Memory accounting of the run.
    pub(crate) memory: Arc<MemoryBudget>,
    /// The names and unwind rules of earlier runs.
    pub(crate) cache: Option<Arc<Cache>>,
}
