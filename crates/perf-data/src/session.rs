//! A recording of any kind, read while it is replayed: a thread reads, expands and orders records, and gives them out
//! as windows.
//!
//! ```text
//!   thread    | read + expand w1 | w2 | w3 | ...
//!   consumer                     | w1 | w2 | ...
//! ```

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::counts::RecordCounts;
use crate::driver::{Context, Driver, Flow};
use crate::error::Error;
use crate::findings::Findings;
use crate::gather::Gather;
use crate::head::Head;
use crate::input::{Input, Opened, open};
use crate::window::Window;

/// How much is held at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionOptions {
    /// A window of a stream is made at the first end of a round behind so many bytes of records.
    pub window_bytes: u64,
    /// If no round ends within so many bytes, order is given up and the older half is given out.
    pub pending_bytes: u64,
    /// A compressed record may expand to so many bytes.
    pub expansion_bytes: usize,
    /// Bytes of a stream that are read at a time. Records that leave a block are copied to the next one, so blocks are
    /// much larger than records.
    pub read_bytes: usize,
}

impl Default for SessionOptions {
    /// 32 MiB, 1 GiB, 64 MiB, 4 MiB.
    fn default() -> Self {
        Self {
            window_bytes: 32 << 20,
            pending_bytes: 1 << 30,
            expansion_bytes: 64 << 20,
            read_bytes: 4 << 20,
        }
    }
}

/// What the reading thread tells.
pub(crate) enum Message {
    Head(Arc<Head>),
    Window { window: Window, counts: RecordCounts, findings: Findings },
    End { head: Arc<Head>, counts: RecordCounts, findings: Findings },
}

/// A recording that is being read.
///
/// A plain file gives one window, whose bytes are those of the file. A stream, and a file with compressed records,
/// give many; at most one of them waits while another is made.
#[derive(Debug)]
pub struct Session {
    head: Arc<Head>,
    counts: RecordCounts,
    messages: Receiver<Message>,
    is_ended: bool,
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
        let opened = open(input, options, findings)?;
        let (sender, messages) = sync_channel(1);
        std::thread::spawn(move || read(opened, options, sender));
        let mut session = Self {
            head: Arc::new(Head::of_stream(crate::Endian::Little)),
            counts: RecordCounts::default(),
            messages,
            is_ended: false,
        };
        let window = session.next_window(findings);
        debug_assert!(window.is_none(), "the head comes first");
        if session.head.events().is_empty() {
            let len = session.counts.total().bytes + session.counts.skipped_bytes;
            return Err(Error::NoEventsInStream { len });
        }
        Ok(session)
    }

    /// Events and features as far as they are known. After the last window all of them are, for instance build ids
    /// that stand at the end of a stream.
    #[must_use]
    pub fn head(&self) -> &Arc<Head> {
        &self.head
    }

    /// The records read up to the last window that was given out.
    #[must_use]
    pub fn counts(&self) -> &RecordCounts {
        &self.counts
    }

    /// The next window, in time order; `None` behind the last one.
    pub fn next_window(&mut self, findings: &mut Findings) -> Option<Window> {
        if self.is_ended {
            return None;
        }
        match self.messages.recv() {
            Ok(Message::Head(head)) => {
                self.head = head;
                None
            }
            Ok(Message::Window { window, counts, findings: found }) => {
                self.head = Arc::clone(window.head());
                self.counts = counts;
                findings.merge(&found);
                Some(window)
            }
            Ok(Message::End { head, counts, findings: found }) => {
                self.head = head;
                self.counts = counts;
                findings.merge(&found);
                self.is_ended = true;
                None
            }
            Err(_) => {
                self.is_ended = true;
                None
            }
        }
    }
}

/// The reading thread.
fn read(opened: Opened, options: SessionOptions, out: SyncSender<Message>) {
    let mut gather = Gather::new(out, options, opened.may_stream);
    if opened.is_stream {
        gather.set_windowed();
    }
    let mut driver = Driver::new(Arc::new(opened.head), options.expansion_bytes, gather);
    if driver.run(opened.feeds) == Flow::Stop {
        return;
    }
    let Driver { head, mut counts, mut findings, mut sink, .. } = driver;
    let context = Context { head: &head, counts: &mut counts, findings: &mut findings };
    if sink.finish(context) == Flow::Continue {
        sink.tell_end(head, counts, findings);
    }
}
