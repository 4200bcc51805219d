//! The profile: the one value that a recording becomes, and what can be asked of it.
//!
//! A [`Profile`] is a set of tables. Samples name a node of the prefix tree of stacks, nodes name frames, frames name
//! locations, and locations name the functions at them; every string is kept once. How the profile was made and how it
//! is printed are not known here.

mod id;
mod profile;
mod quality;
pub mod query;
mod reason;
mod tables;

pub use id::{
    EventId, FrameId, InlineId, LayoutId, LocationId, RowId, SampleId, StackId, StringId, ThreadId,
};
pub use profile::Profile;
pub use quality::{EventLoss, FindingRow, ModuleLoss, Summary};
pub use reason::{EndReason, FoundBy};
pub use tables::{
    EventRow, FrameRow, InlineRow, LayoutRow, LocationAddress, LocationRow, ModuleBias, ModuleKind,
    ModuleRow, RecordingInfo, SampleRow, StackRow, StringHasher, Strings, Table, ThreadRow,
};
