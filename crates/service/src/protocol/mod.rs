//! What the front and the worker say to each other over a pair of sockets: requests and replies as JSON, each with its
//! length before it, and with the descriptors of the files that it is about.

mod channel;
mod filter;
mod live;
mod message;
mod options;
mod symbols;

pub use filter::TimeRange;

pub(crate) use channel::{Receiver, Sender, pair};
pub(crate) use filter::SampleWords;
pub(crate) use live::{LiveChange, LiveNumbers, LiveTask, LiveTick};
pub(crate) use message::{
    DIFF_TABLES, DiffTask, Event, ExportTask, Given, PlaceTask, Reply, Request, Task,
};
#[cfg(test)]
pub(crate) use options::JoinChoice;
pub(crate) use options::{DemangleChoice, RunOptions};
pub(crate) use symbols::{
    AddressSpace, Code, CodeTask, FilePart, FileTask, FoundModule, Frame, HandedFile, Named,
    NamedAddress, SourceTask, SymbolizeTask, WantedModule,
};
