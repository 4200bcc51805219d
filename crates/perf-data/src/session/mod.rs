//! A recording of any kind, read while it is replayed: a thread reads, expands
//! and orders records, and sends them as batches.
//!
//! ```text
//!   thread    | read + expand w1 | w2 | w3 | ...
//!   consumer                     | w1 | w2 | ...
//! ```

mod batch;
mod batch_reader;
mod batcher;
mod chains;
mod entries;
mod index;
mod input;
mod messages;
mod options;
mod pending;
mod raw_record;
mod reading;
mod sort;
mod usual_entries;
mod visit;

pub use batch::Batch;
pub use batch_reader::BatchReader;
pub use entries::{RecordEntry, SampleEntry};
pub use input::Input;
pub use options::{EagerBatches, LiveBatches, SessionOptions};
pub use raw_record::{RawBody, RawRecord};
pub use visit::{VisitSummary, visit_records};

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use budget::MemoryBudget;

use self::input::open;
use self::messages::{Outbox, ReadMessage, WaitingMessages};
use crate::container::Head;
use crate::error::Error;
use crate::finding::Findings;
use crate::stream::RecordCounts;

/// A recording that is being read.
///
/// A plain file gives one batch, which borrows the bytes of the file, or several if it is read eagerly.
/// A stream, or a file with compressed records, gives many. At most one batch waits while another is
/// made, and none if a plain file is read eagerly.
#[derive(Debug)]
pub struct Session {
    head: Arc<Head>,
    counts: RecordCounts,
    messages: Receiver<ReadMessage>,
    waiting: WaitingMessages,
    end: Option<SessionEnd>,
}

/// How a session ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SessionEnd {
    /// After the last batch.
    Complete,
    /// At a record that belongs into a batch already returned.
    Disordered,
}

impl Session {
    /// Opens a recording and reads it up to the first record that does not describe the recording itself.
    ///
    /// # Errors
    /// If the input is not a recording, or it has no events.
    pub fn open(
        input: Input,
        options: SessionOptions,
        findings: &mut Findings,
    ) -> Result<Self, Error> {
        Self::open_within(input, options, &Arc::default(), findings)
    }

    /// Same as [`Self::open`], with its memory counted in `memory`. If a limit is exceeded, the
    /// session ends early; [`MemoryBudget::exceeded`] reports it.
    ///
    /// # Errors
    /// As for [`Self::open`], and if a memory limit is exceeded.
    pub fn open_within(
        input: Input,
        options: SessionOptions,
        memory: &Arc<MemoryBudget>,
        findings: &mut Findings,
    ) -> Result<Self, Error> {
        let mut opened = open(input, options, memory, findings)?;
        opened.head.set_fallback_arch(options.fallback_arch);
        let (send_head, head) = sync_channel(1);
        // Batches of a file are large: one is walked while the next is made, and a third would cost too much memory.
        let usual = if options.eager.is_some() { 0 } else { 1 };
        let waiting = options.live.map_or(usual, |live| live.waiting.max(1));
        let (send_message, messages) = sync_channel(waiting);
        let waiting = WaitingMessages::default();
        let out = Outbox::new(send_head, send_message, waiting.clone());
        let memory = memory.clone();
        std::thread::spawn(move || reading::read(opened, options, &memory, out));
        // Without events the head is sent last, so there are no counts to report.
        let no_events = Error::NoEventsInStream { len: 0 };
        let head: Arc<Head> = head.recv().map_err(|_| no_events)?;
        if head.events().is_empty() {
            return Err(no_events);
        }
        let counts = RecordCounts::default();
        Ok(Self { head, counts, messages, waiting, end: None })
    }

    /// Returns the next batch in time order if it arrives within `wait`; [`Duration::MAX`] waits without limit.
    pub fn next_batch_within(&mut self, wait: Duration, findings: &mut Findings) -> NextBatch {
        loop {
            match self.end {
                Some(SessionEnd::Complete) => return NextBatch::End,
                Some(SessionEnd::Disordered) => return NextBatch::Disordered,
                None => {}
            }
            match self.messages.recv_timeout(wait) {
                Ok(message) => {
                    self.waiting.received();
                    if let Some(batch) = self.take_in(message, findings) {
                        return NextBatch::Batch(batch);
                    }
                }
                Err(RecvTimeoutError::Timeout) => return NextBatch::NotYet,
                Err(RecvTimeoutError::Disconnected) => self.end = Some(SessionEnd::Complete),
            }
        }
    }

    /// Events and features read so far. They are complete after the last batch:
    /// build-ids, for instance, can be at the end of a stream.
    #[must_use]
    pub fn head(&self) -> &Arc<Head> {
        &self.head
    }

    /// Counts of the records read up to the last batch returned.
    #[must_use]
    pub fn counts(&self) -> &RecordCounts {
        &self.counts
    }

    /// Returns the number of batches that were read and not yet returned, and of the one that waits for space if
    /// [`LiveBatches::waiting`] are there. The end counts as a batch.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.count()
    }

    /// Returns the next batch in time order; `None` after the last one.
    /// Eager sessions use [`Self::next_batch_within`], which distinguishes the end from disorder.
    pub fn next_batch(&mut self, findings: &mut Findings) -> Option<Batch> {
        match self.next_batch_within(Duration::MAX, findings) {
            NextBatch::Batch(batch) => Some(batch),
            NextBatch::NotYet | NextBatch::Disordered | NextBatch::End => None,
        }
    }

    /// Processes a message of the reading thread; returns the batch if it holds one.
    fn take_in(&mut self, message: ReadMessage, findings: &mut Findings) -> Option<Batch> {
        match message {
            ReadMessage::Disordered => {
                self.end = Some(SessionEnd::Disordered);
                None
            }
            ReadMessage::Batch { batch, counts, findings: found } => {
                self.head = Arc::clone(batch.head());
                self.counts = counts;
                findings.merge(&found);
                Some(batch)
            }
            ReadMessage::End { head, counts, findings: found } => {
                self.head = head;
                self.counts = counts;
                findings.merge(&found);
                self.end = Some(SessionEnd::Complete);
                None
            }
        }
    }
}

/// Result of [`Session::next_batch_within`].
#[derive(Debug)]
pub enum NextBatch {
    /// The next batch.
    Batch(Batch),
    /// No batch arrived in time.
    NotYet,
    /// A record belongs before the end of a batch already returned: all batches are void.
    /// Open the recording again without [`SessionOptions::eager`]; it happens only if that was set.
    Disordered,
    /// No batches are left.
    End,
}
