//! Losses: records that the kernel dropped, chains that ended early, and frames without names, by event or module.

use address::ModuleId;

use super::Advice;
use crate::encoding::encoding;
use crate::id::EventId;
use crate::reason::EndReason;

/// Losses of one event, as reported by the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventLoss {
    /// The event.
    pub event: EventId,
    /// Number of lost samples.
    pub samples: u64,
    /// Number of other lost records.
    pub records: u64,
}

encoding! { EventLoss { event: EventId, samples: u64, records: u64, } }

/// A module with nameless frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamelessModule {
    /// The module; `None` for unmapped memory.
    pub module: Option<ModuleId>,
    /// Number of its nameless frames in all samples.
    pub frames: u64,
    /// Remedy that would provide names; `None` if none is known.
    pub help: Option<Advice>,
}

encoding! { NamelessModule { module: Option<ModuleId>, frames: u64, help: Option<Advice>, } }

/// A module at which chains ended because its file or its unwind information is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleLoss {
    /// The module; `None` for unmapped memory.
    pub module: Option<ModuleId>,
    /// The end reason of the chains.
    pub end: EndReason,
    /// Number of samples with a chain that ended there.
    pub samples: u64,
    /// Reason in plain words.
    pub reason: String,
    /// Remedy that would let chains continue; `None` if none is known.
    pub help: Option<Advice>,
}

encoding! { ModuleLoss {
    module: Option<ModuleId>,
    end: EndReason,
    samples: u64,
    reason: String,
    help: Option<Advice>,
} }
