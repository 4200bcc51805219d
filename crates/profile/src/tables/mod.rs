//! The tables of a profile, with one kind of row per file, and the types that store rows and strings.

mod branch;
mod event;
mod field;
mod field_rows;
mod frame;
mod layout;
mod location;
mod module;
mod recording;
mod sample;
mod span;
mod stack;
mod strings;
mod table;
mod thread;

pub use branch::{BranchOutcome, BranchRow, BranchTable, EdgeRow};
pub use event::EventRow;
pub use field::FieldTable;
pub use field_rows::{FieldRows, FieldValue, NoLabel};
pub use frame::FrameRow;
pub use layout::{LayoutRow, ModuleBias};
pub use location::{InlineRow, LocationAddress, LocationRow};
pub use module::{ModuleKind, ModuleRow};
pub use recording::{RecordingInfo, WallClock};
pub use sample::SampleRow;
pub use span::{SpanRow, SpanTable};
pub use stack::StackRow;
pub use strings::{LONGEST_IN_TABLE, LONGEST_REPEATED, StringHasher, Strings};
pub use table::Table;
pub use thread::{ProcessKey, ThreadRow};
