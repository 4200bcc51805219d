//! The worker's side of the socket: replies to the front.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use crate::protocol::{Reply, Sender, WorkerEvent};

/// Sends replies from several threads over one socket.
#[derive(Debug)]
pub(super) struct ReplySender(Mutex<Sender>);

impl ReplySender {
    pub(super) const fn new(sender: Sender) -> Self {
        Self(Mutex::new(sender))
    }

    /// Sends an event to the front. A closed socket is not an error here: the worker ends at its next read.
    pub(super) fn send(&self, id: u64, event: WorkerEvent) {
        self.send_with(id, event, &[]);
    }

    /// Sends an event with descriptors. The front receives duplicates of them.
    pub(super) fn send_with(&self, id: u64, event: WorkerEvent, files: &[OwnedFd]) {
        let files: Vec<BorrowedFd<'_>> = files.iter().map(AsFd::as_fd).collect();
        let mut sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = sender.send(&Reply { id, event }, &files);
    }
}
