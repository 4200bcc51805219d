//! Messages of the reading thread to the session: the head on a separate channel, then batches, then the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;

use super::batch::Batch;
use crate::container::Head;
use crate::finding::Findings;
use crate::stream::RecordCounts;

/// Message after the head.
pub(crate) enum ReadMessage {
    /// The next batch, with all counts so far and the findings since the previous batch.
    Batch { batch: Batch, counts: RecordCounts, findings: Findings },
    /// A record belongs into a batch already sent: all batches are void, and no more follow.
    Disordered,
    /// All records were read.
    End { head: Arc<Head>, counts: RecordCounts, findings: Findings },
}

/// Sending ends of the channels.
pub(crate) struct Outbox {
    /// `None` after the head was sent, which precedes all batches.
    head: Option<SyncSender<Arc<Head>>>,
    messages: SyncSender<ReadMessage>,
    waiting: WaitingMessages,
}

/// Number of messages that were sent and not yet received, or wait to be sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct WaitingMessages(Arc<AtomicUsize>);

impl WaitingMessages {
    /// Returns the number of messages.
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts a message as received.
    pub(crate) fn received(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The session was dropped and no longer receives batches.
pub(crate) struct ReceiverGone;

impl Outbox {
    /// Returns an outbox from which nothing was sent.
    pub(crate) fn new(
        head: SyncSender<Arc<Head>>,
        messages: SyncSender<ReadMessage>,
        waiting: WaitingMessages,
    ) -> Self {
        Self { head: Some(head), messages, waiting }
    }

    /// Returns true if the head was sent.
    pub(crate) const fn has_sent_head(&self) -> bool {
        self.head.is_none()
    }

    /// Sends the head, unless it was sent.
    pub(crate) fn send_head(&mut self, head: &Arc<Head>) {
        if let Some(out) = self.head.take() {
            // A dropped receiver is noticed at the next batch.
            let _ = out.send(Arc::clone(head));
        }
    }

    /// Sends a message; blocks while the channel is full.
    pub(crate) fn send(&self, message: ReadMessage) -> Result<(), ReceiverGone> {
        self.waiting.0.fetch_add(1, Ordering::Relaxed);
        self.messages.send(message).map_err(|_| ReceiverGone)
    }
}
