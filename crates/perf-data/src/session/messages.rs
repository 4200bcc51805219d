//! What the reading thread sends to the session: the head on a channel of its own, then batches, then the end.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use super::batch::Batch;
use crate::container::Head;
use crate::finding::Findings;
use crate::stream::RecordCounts;

/// What follows the head.
pub(crate) enum ReadMessage {
    /// The next batch, with all counts so far and what was found since the batch before.
    Batch { batch: Batch, counts: RecordCounts, findings: Findings },
    /// A record belongs into a batch that was sent: all batches are void, and no more follow.
    Disordered,
    /// All records were read.
    End { head: Arc<Head>, counts: RecordCounts, findings: Findings },
}

/// The sending ends of the channels.
pub(crate) struct Outbox {
    /// `None` once the head was sent, which comes before all batches.
    head: Option<SyncSender<Arc<Head>>>,
    messages: SyncSender<ReadMessage>,
}

/// The session is gone, so nobody waits for batches.
pub(crate) struct ReceiverGone;

impl Outbox {
    /// An outbox from which nothing was sent.
    pub(crate) fn new(head: SyncSender<Arc<Head>>, messages: SyncSender<ReadMessage>) -> Self {
        Self { head: Some(head), messages }
    }

    /// Whether the head was sent.
    pub(crate) const fn has_sent_head(&self) -> bool {
        self.head.is_none()
    }

    /// Sends the head, unless it was sent.
    pub(crate) fn send_head(&mut self, head: &Arc<Head>) {
        if let Some(out) = self.head.take() {
            // A receiver that is gone is noticed at the next batch.
            let _ = out.send(Arc::clone(head));
        }
    }

    /// Sends a message, and waits until there is room for it.
    pub(crate) fn send(&self, message: ReadMessage) -> Result<(), ReceiverGone> {
        self.messages.send(message).map_err(|_| ReceiverGone)
    }
}
