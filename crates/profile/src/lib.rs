//! The profile: the one value that a recording becomes, and what can be asked of it.
//!
//! A [`Profile`] is a set of tables. Samples name a node of the prefix tree of stacks, nodes name frames, frames name
//! locations, and locations name the functions at them; every string is kept once. How the profile was made and how it
//! is printed are not known here.

mod profile;
pub mod query;
mod reason;
mod summary;
mod tables;

pub use profile::{
    EventRow, FrameRow, InlineRow, LayoutRow, LocationRow, ModuleKind, ModuleRow, NO_STACK,
    Profile, RecordingInfo, SampleRow, StackRow, ThreadRow,
};
pub use reason::{EndReason, FoundBy};
pub use summary::{EventLoss, FindingRow, ModuleLoss, Summary};
pub use tables::{StringId, Strings};
