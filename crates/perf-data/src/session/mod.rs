//! A recording of any kind, read while it is replayed: a thread reads, expands and orders records, and gives them out
//! as batches.
//!
//! ```text
//!   thread    | read + expand w1 | w2 | w3 | ...
//!   consumer                     | w1 | w2 | ...
//! ```

mod batch;
mod batch_reader;
mod chains;
mod entries;
mod gather;
mod index;
mod input;
mod messages;
mod options;
mod raw_record;
mod reading;
mod sort;
mod usual;
mod visit;
mod waiting;

pub use batch::Batch;
pub use batch_reader::BatchReader;
pub use entries::{RecordEntry, SampleEntry};
pub use input::Input;
pub use options::{EagerBatches, LiveBatches, SessionOptions};
pub use raw_record::{RawBody, RawRecord};
pub use visit::{Visited, visit_records};

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use budget::Memory;

use self::input::open;
use self::messages::{Outbox, ReadMessage};
use crate::container::Head;
use crate::error::Error;
use crate::finding::Findings;
use crate::stream::RecordCounts;

/// A recording that is being read.
///
/// A plain file gives one batch, whose bytes are those of the file, or several where it is read eagerly. A stream, and
/// a file with compressed records, give many; at most one of them waits while another is made, and none where a plain
/// file is read eagerly.
#[derive(Debug)]
pub struct Session {
    head: Arc<Head>,
    counts: RecordCounts,
    messages: Receiver<ReadMessage>,
    end: Option<SessionEnd>,
}

/// How a session ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SessionEnd {
    /// After the last batch.
    Complete,
    /// At a record that belongs into a batch that was given out.
    Disordered,
}

impl Session {
    /// Opens a recording and reads it up to its first record that is not about the recording itself.
    ///
    /// # Errors
    /// Where there is no recording, or it has no events.
    pub fn open(
        input: Input,
        options: SessionOptions,
        findings: &mut Findings,
    ) -> Result<Self, Error> {
        Self::open_within(input, options, &Arc::default(), findings)
    }

    /// The same, which counts what it takes as held in `memory`. Where that is too much, the session ends before its
    /// time; [`Memory::exceeded`] says so.
    ///
    /// # Errors
    /// As for [`Self::open`], and where too much is held.
    pub fn open_within(
        input: Input,
        options: SessionOptions,
        memory: &Arc<Memory>,
        findings: &mut Findings,
    ) -> Result<Self, Error> {
        let mut opened = open(input, options, memory, findings)?;
        opened.head.set_fallback_arch(options.fallback_arch);
        let (send_head, head) = sync_channel(1);
        // Batches of a file are large: one is walked while the next is made, and no third one is there.
        let usual = if options.eager.is_some() { 0 } else { 1 };
        let waiting = options.live.map_or(usual, |live| live.waiting.max(1));
        let (send_message, messages) = sync_channel(waiting);
        let out = Outbox::new(send_head, send_message);
        let memory = memory.clone();
        std::thread::spawn(move || reading::read(opened, options, &memory, out));
        // The head comes last where there are no events, so nothing was counted that could be waited for.
        let no_events = Error::NoEventsInStream { len: 0 };
        let head: Arc<Head> = head.recv().map_err(|_| no_events)?;
        if head.events().is_empty() {
            return Err(no_events);
        }
        let counts = RecordCounts::default();
        Ok(Self { head, counts, messages, end: None })
    }

    /// The next batch in time order, if there is one within so much time; [`Duration::MAX`] waits for it.
    pub fn next_batch_within(&mut self, wait: Duration, findings: &mut Findings) -> NextBatch {
        loop {
            match self.end {
                Some(SessionEnd::Complete) => return NextBatch::End,
                Some(SessionEnd::Disordered) => return NextBatch::Disordered,
                None => {}
            }
            match self.messages.recv_timeout(wait) {
                Ok(message) => {
                    if let Some(batch) = self.take_in(message, findings) {
                        return NextBatch::Batch(batch);
                    }
                }
                Err(RecvTimeoutError::Timeout) => return NextBatch::NotYet,
                Err(RecvTimeoutError::Disconnected) => self.end = Some(SessionEnd::Complete),
            }
        }
    }

    /// Events and features as far as they are known. After the last batch all of them are, for instance build ids
    /// that stand at the end of a stream.
    #[must_use]
    pub fn head(&self) -> &Arc<Head> {
        &self.head
    }

    /// The records read up to the last batch that was given out.
    #[must_use]
    pub fn counts(&self) -> &RecordCounts {
        &self.counts
    }

    /// The next batch in time order; `None` after the last one. Sessions that read eagerly ask
    /// [`Self::next_batch_within`], which tells the end from disorder.
    pub fn next_batch(&mut self, findings: &mut Findings) -> Option<Batch> {
        match self.next_batch_within(Duration::MAX, findings) {
            NextBatch::Batch(batch) => Some(batch),
            NextBatch::NotYet | NextBatch::Disordered | NextBatch::End => None,
        }
    }

    /// Takes in what the reading thread sent: the batch, if that is one.
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

/// What [`Session::next_batch_within`] gives.
#[derive(Debug)]
pub enum NextBatch {
    /// The next batch.
    Batch(Batch),
    /// None came by then.
    NotYet,
    /// A record belongs before the end of a batch that was given out: all batches are void. The recording is to be opened
    /// again and read without [`SessionOptions::eager`]. Happens only if that was set.
    Disordered,
    /// There is none any more.
    End,
}
