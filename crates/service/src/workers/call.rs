//! Request to a worker, in progress.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::sync::mpsc::UnboundedReceiver;

use super::process::Process;
use crate::problem::{Problem, ProblemKind};
use crate::protocol::{Task, WorkerEvent, WorkerRequest};

/// Event of a request, as received by the front.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// Message of the worker, with its descriptors.
    Event(WorkerEvent, Vec<OwnedFd>),
    /// The worker ended; the text says how.
    Ended(String),
}

impl Incoming {
    /// Returns true if no further event follows.
    pub(crate) const fn is_last(&self) -> bool {
        matches!(
            self,
            Self::Ended(_) | Self::Event(WorkerEvent::Done(_) | WorkerEvent::Failed(_), _)
        )
    }
}

/// Request in progress; dropping it early cancels it.
#[derive(Debug)]
pub(crate) struct WorkerCall {
    id: u64,
    process: Arc<Process>,
    replies: UnboundedReceiver<Incoming>,
    is_over: bool,
}

impl WorkerCall {
    pub(super) const fn new(
        id: u64,
        process: Arc<Process>,
        replies: UnboundedReceiver<Incoming>,
    ) -> Self {
        Self { id, process, replies, is_over: false }
    }

    /// Returns the next event.
    pub(crate) async fn next(&mut self) -> Incoming {
        let incoming = self.replies.recv().await;
        let incoming = incoming.unwrap_or_else(|| Incoming::Ended("it does not answer".to_owned()));
        self.is_over |= incoming.is_last();
        incoming
    }

    /// Waits for the answer, and returns it with its descriptors.
    ///
    /// # Errors
    /// The problem that the worker reports, or that the worker ended.
    pub(crate) async fn answer(&mut self) -> Result<(Box<RawValue>, Vec<OwnedFd>), Problem> {
        loop {
            match self.next().await {
                Incoming::Event(WorkerEvent::Done(answer), files) => return Ok((answer, files)),
                Incoming::Event(WorkerEvent::Failed(problem), _) => return Err(problem),
                Incoming::Event(..) => {}
                Incoming::Ended(how) => {
                    return Err(Problem::new(ProblemKind::WorkerEnded).detail(how));
                }
            }
        }
    }

    /// Returns the process id of the worker.
    pub(crate) fn process(&self) -> Option<u32> {
        self.process.id()
    }

    /// Terminates the worker after its deadline.
    pub(crate) fn kill(&self) {
        self.process.kill();
    }

    /// Asks the worker to stop; the worker still sends a final event.
    pub(crate) fn cancel(&self) {
        self.process.send_alone(WorkerRequest { id: self.id, task: Task::Cancel(self.id) });
    }
}

impl Drop for WorkerCall {
    fn drop(&mut self) {
        if !self.is_over {
            self.cancel();
        }
    }
}
