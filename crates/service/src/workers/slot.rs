//! Slot of a worker, which is started on demand.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc::unbounded_channel;

use super::call::WorkerCall;
use super::process::{Process, WorkerCommand};
use crate::problem::{Problem, ProblemKind};
use crate::protocol::{Task, WorkerRequest};

/// Slot of a worker.
#[derive(Debug)]
pub(crate) struct WorkerSlot {
    command: WorkerCommand,
    /// True if its workers run for hours and must return unused memory.
    gives_back: bool,
    /// True if its workers have the lowest priority.
    nice: bool,
    current: Mutex<Option<Arc<Process>>>,
    next_id: AtomicU64,
    starts: AtomicU64,
}

/// Statistics of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotCounts {
    /// Number of started workers.
    pub(crate) starts: u64,
    /// True if a worker is running.
    pub(crate) runs: bool,
}

impl WorkerSlot {
    pub(crate) const fn new(command: WorkerCommand) -> Self {
        Self {
            command,
            gives_back: false,
            nice: false,
            current: Mutex::new(None),
            next_id: AtomicU64::new(1),
            starts: AtomicU64::new(0),
        }
    }

    /// Returns a slot for a worker that runs for hours.
    pub(crate) const fn lasting(command: WorkerCommand) -> Self {
        let mut slot = Self::new(command);
        slot.gives_back = true;
        slot
    }

    /// Returns a slot for a worker of the lowest priority.
    pub(crate) const fn nice(command: WorkerCommand) -> Self {
        let mut slot = Self::new(command);
        slot.nice = true;
        slot
    }

    /// Sends a task to the worker, and starts the worker if necessary.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(crate) fn call(&self, task: Task, files: Vec<OwnedFd>) -> Result<WorkerCall, Problem> {
        let failed = |error: io::Error| {
            Problem::new(ProblemKind::Internal)
                .detail(format!("the worker cannot be started: {error}"))
        };
        let process = self.process().map_err(failed)?;
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (sender, replies) = unbounded_channel();
        process.send(WorkerRequest { id, task }, files, sender);
        Ok(WorkerCall::new(id, process, replies))
    }

    /// Terminates the worker when the service stops.
    pub(crate) fn end(&self) {
        self.lock().take();
    }

    pub(crate) fn counts(&self) -> SlotCounts {
        let runs = self.lock().as_ref().is_some_and(|process| !process.has_ended());
        SlotCounts { starts: self.starts.load(Ordering::Relaxed), runs }
    }

    fn process(&self) -> io::Result<Arc<Process>> {
        let mut current = self.lock();
        if let Some(process) = current.as_ref().filter(|process| !process.has_ended()) {
            return Ok(Arc::clone(process));
        }
        let process = Arc::new(Process::start(&self.command, self.gives_back, self.nice)?);
        self.starts.fetch_add(1, Ordering::Relaxed);
        *current = Some(Arc::clone(&process));
        Ok(process)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<Process>>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
