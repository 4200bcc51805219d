//! Protocol between front and worker over a pair of sockets: length-prefixed JSON messages, with the descriptors of the
//! files they concern.

mod live;
mod message;
mod options;
mod query;
mod setup;
mod symbols;

pub use setup::WorkerSetup;

pub(crate) use self::options::RunOptions;
pub(crate) use confine::{Receiver, Sender, pair};
pub(crate) use live::{LiveChange, LiveNumbers, LiveTask, LiveTick};
pub(crate) use message::{
    DIFF_TABLES, DiffTask, ExportTask, InstructionsTask, RecordingRef, Reply, Task, WorkerEvent,
    WorkerRequest,
};
pub(crate) use query::{Query, QueryView};
pub(crate) use symbols::{
    AddressSpace, CodeInstructions, CodeTask, FilePart, FileTask, FoundModule, Frame, HandedFile,
    RequestedModule, SourceTask, SymbolizeTask, SymbolizedAddress, SymbolizedAddresses,
};
