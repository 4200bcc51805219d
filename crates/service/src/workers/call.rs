//! A request to a worker that is under way.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::sync::mpsc::UnboundedReceiver;

use super::process::Process;
use crate::problem::{Kind, Problem};
use crate::protocol::{Event, Request, Task};

/// What is heard of a request.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// The worker says something, with these descriptors.
    Event(Event, Vec<OwnedFd>),
    /// The worker ended, in this way.
    Ended(String),
}

impl Incoming {
    /// Whether nothing more comes.
    pub(crate) const fn is_last(&self) -> bool {
        matches!(self, Self::Ended(_) | Self::Event(Event::Done(_) | Event::Failed(_), _))
    }
}

/// A request that is under way; dropped before its end, it is cancelled.
#[derive(Debug)]
pub(crate) struct Call {
    id: u64,
    process: Arc<Process>,
    replies: UnboundedReceiver<Incoming>,
    is_over: bool,
}

impl Call {
    pub(super) const fn new(
        id: u64,
        process: Arc<Process>,
        replies: UnboundedReceiver<Incoming>,
    ) -> Self {
        Self { id, process, replies, is_over: false }
    }

    /// What is heard next; the end is told once.
    pub(crate) async fn next(&mut self) -> Incoming {
        let incoming = self.replies.recv().await;
        let incoming = incoming.unwrap_or_else(|| Incoming::Ended("it does not answer".to_owned()));
        self.is_over |= incoming.is_last();
        incoming
    }

    /// The answer, and the descriptors that come with it.
    ///
    /// # Errors
    /// What the worker says, or that it ended.
    pub(crate) async fn answer(&mut self) -> Result<(Box<RawValue>, Vec<OwnedFd>), Problem> {
        loop {
            match self.next().await {
                Incoming::Event(Event::Done(answer), files) => return Ok((answer, files)),
                Incoming::Event(Event::Failed(problem), _) => return Err(problem),
                Incoming::Event(..) => {}
                Incoming::Ended(how) => {
                    return Err(Problem::new(Kind::WorkerEnded).detail(how));
                }
            }
        }
    }

    /// The number of the worker among processes.
    pub(crate) fn process(&self) -> Option<u32> {
        self.process.id()
    }

    /// Ends the worker: it is beyond its deadline.
    pub(crate) fn kill(&self) {
        self.process.kill();
    }

    /// Asks the worker to stop; it answers that it did.
    pub(crate) fn cancel(&self) {
        self.process.tell(Request { id: self.id, task: Task::Cancel(self.id) });
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.is_over {
            self.cancel();
        }
    }
}
