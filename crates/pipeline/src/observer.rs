//! The observer of a run, which receives its progress and can cancel it.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use host::{MemoryPart, memory_is_for};

/// A stage of a run.
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
    /// Kind and build-id of the file.
    pub name: &'a str,
    /// Address that it is fetched from.
    pub url: &'a str,
    /// Bytes received.
    pub done: u64,
    /// Size in bytes; 0 if the server does not state it.
    pub total: u64,
    /// True if the download ended, with success or without.
    pub ended: bool,
}

/// A server that a run waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ServerWait<'a> {
    /// The server's address.
    pub server: &'a str,
    /// The file: kind and build-id.
    pub name: &'a str,
    /// Time within which the server must send something; `None` is no limit.
    pub limit: Option<Duration>,
}

/// Observer of a run. Methods may be called from several threads and must return quickly, because the run waits for
/// them.
pub trait Observer: Debug + Send + Sync {
    /// A stage began.
    fn stage(&self, _stage: Stage) {}

    /// Receives the expected number of samples, extrapolated from the part that was read.
    fn expected(&self, _samples: u64) {}

    /// Receives the number of unwound samples.
    fn done(&self, _samples: u64) {}

    /// Receives the progress of a download.
    fn download(&self, _download: &Download<'_>) {}

    /// A request lasts longer than a second. Called once for each server of a run.
    fn waiting(&self, _waiting: &ServerWait<'_>) {}

    /// Returns true if the run is to stop. It is called every few hundred samples and between files. Once it returns
    /// true, the run ends with [`Error::Cancelled`](crate::Error::Cancelled) within milliseconds.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Reports a stage to the observer, and attributes the memory of the process to it.
pub(crate) fn begin(observer: &Arc<dyn Observer>, stage: Stage) {
    memory_is_for(match stage {
        Stage::Reading => MemoryPart::Recording,
        Stage::Unwinding => MemoryPart::Stacks,
        Stage::Symbolizing => MemoryPart::Names,
    });
    observer.stage(stage);
}

/// An observer that does nothing.
#[derive(Clone, Copy, Default, Debug)]
pub struct Unobserved;

impl Observer for Unobserved {}
