//! What a run is given.

use std::sync::Arc;

use budget::Memory;
use cache::Cache;
use host::Host;
use options::{Options, Spelling};

use crate::kept::Generation;
use crate::observer::Observer;

/// What a run is given: the machine, what is kept, what to do, who watches.
#[derive(Debug)]
pub(crate) struct Setting<'a> {
    pub(crate) host: &'a Arc<dyn Host>,
    pub(crate) kept: Generation,
    pub(crate) options: &'a Options,
    pub(crate) observer: &'a Arc<dyn Observer>,
    /// The names of options in advice.
    pub(crate) spelling: Spelling,
    /// What the run holds in memory.
    pub(crate) memory: Arc<Memory>,
    /// The names and unwind rules of runs before.
    pub(crate) cache: Option<Arc<Cache>>,
}
