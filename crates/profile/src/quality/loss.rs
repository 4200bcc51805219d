//! Losses: records that the kernel dropped, and chains that modules cut short.

use address::ModuleId;

use super::Advice;
use crate::id::EventId;

/// What the kernel reported as lost of one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventLoss {
    /// The event.
    pub event: EventId,
    /// Samples.
    pub samples: u64,
    /// Other records.
    pub records: u64,
}

/// Frames without a name in a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamelessModule {
    /// The module; `None` for memory that was not mapped.
    pub module: Option<ModuleId>,
    /// Its frames without a name, in all samples.
    pub frames: u64,
    /// Would give them names; `None` if nothing is known to.
    pub help: Option<Advice>,
}

/// Samples whose chain ended in a module for want of its file or of its unwind information.
#[derive(Debug, Clone)]
pub struct ModuleLoss {
    /// The module; `None` for memory that was not mapped.
    pub module: Option<ModuleId>,
    /// Samples whose chain ended there.
    pub samples: u64,
    /// Why, in plain words.
    pub reason: String,
    /// Would let chains go on there; `None` if nothing is known to.
    pub help: Option<Advice>,
}
