//! The observer of a run: it learns how far the run has come, and is asked whether the run is still wanted.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use host::{MemoryPart, memory_is_for};

/// What a run does at the moment.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stage {
    /// The recording is opened and read.
    Reading,
    /// Stacks are unwound.
    Unwinding,
    /// Addresses get their names.
    Symbolizing,
}

/// A file that is being fetched from a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Download<'a> {
    /// What it is: kind and build-id.
    pub name: &'a str,
    /// Where it comes from.
    pub url: &'a str,
    /// Bytes that are here.
    pub done: u64,
    /// All bytes; 0 where the server does not say.
    pub total: u64,
    /// Whether no more will come, of it or at all.
    pub ended: bool,
}

/// A server that a run waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiting<'a> {
    /// The server's address.
    pub server: &'a str,
    /// The file: kind and build-id.
    pub name: &'a str,
    /// Time that the server has to send something; `None` is no limit.
    pub limit: Option<Duration>,
}

/// Watches a run. All methods may be called from several threads, and return soon: the work waits for them.
pub trait Observer: Debug + Send + Sync {
    /// A stage began.
    fn stage(&self, _stage: Stage) {}

    /// So many samples there will be, if the rest of the recording is like what was read.
    fn expected(&self, _samples: u64) {}

    /// So many samples are unwound.
    fn done(&self, _samples: u64) {}

    /// A download has come further.
    fn download(&self, _download: &Download<'_>) {}

    /// A request lasts longer than a second. Called once for each server of a run.
    fn waiting(&self, _waiting: &Waiting<'_>) {}

    /// Whether the run is to stop. Asked for every few hundred samples and between files; once it says yes, the run
    /// ends with [`Error::Cancelled`](crate::Error::Cancelled) within milliseconds.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// A stage begins: the observer learns it, and the memory that the process takes is for it.
pub(crate) fn begin(observer: &Arc<dyn Observer>, stage: Stage) {
    memory_is_for(match stage {
        Stage::Reading => MemoryPart::Recording,
        Stage::Unwinding => MemoryPart::Stacks,
        Stage::Symbolizing => MemoryPart::Names,
    });
    observer.stage(stage);
}

/// Nobody watches.
#[derive(Clone, Copy, Default, Debug)]
pub struct Unobserved;

impl Observer for Unobserved {}
