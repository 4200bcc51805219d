//! Printers: one [`Profile`] in, one text out.

mod profile;
mod strings;
mod summary;

pub use profile::{
    EventRow, FrameRow, InlineRow, LayoutRow, LocationRow, ModuleKind, ModuleRow, NO_STACK, Profile, RecordingInfo,
    SampleRow, StackRow, ThreadRow,
};
pub use strings::{StringId, Strings};
pub use summary::{FindingRow, ModuleLoss, Summary};
