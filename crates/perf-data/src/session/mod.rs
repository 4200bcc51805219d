//! A recording of any kind, read while it is replayed: a thread reads, expands and orders records, and gives them out
//! as windows.
//!
//! ```text
//!   thread    | read + expand w1 | w2 | w3 | ...
//!   consumer                     | w1 | w2 | ...
//! ```

mod chains;
mod gather;
mod input;
mod raw_records;
mod recording;
mod scan;
mod visit;
mod window;

pub use input::Input;
pub use raw_records::{RawBody, RawRecord, RawRecords};
pub use recording::Recording;
pub use scan::{SampleEntry, Scan, TimedRecord};
pub use visit::{Visited, visit_records};
pub use window::{RecordEntry, Window};

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use self::gather::Gather;
use self::input::{Opened, open};
use crate::container::{Arch, Head};
use crate::error::Error;
use crate::finding::Findings;
use crate::stream::{Context, Driver, Flow, RecordCounts};

/// How much is held at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionOptions {
    /// A window of a stream is made at the first end of a round behind so many bytes of records.
    pub window_bytes: u64,
    /// The first window of a stream is made behind so many bytes, where that is less, so that something is known soon.
    pub first_bytes: u64,
    /// Whether records of context switches are given out, too.
    pub switches: bool,
    /// The architecture of a recording that does not tell it.
    pub fallback_arch: Option<Arch>,
    /// If no round ends within so many bytes, order is given up and the older half is given out.
    pub pending_bytes: u64,
    /// A compressed record may expand to so many bytes.
    pub expansion_bytes: usize,
    /// Whether a plain file is given out in windows, too, of [`Self::eager_bytes`] or more, so that it can be replayed
    /// while it is read. Where a record shows that the rounds of the file did not keep their promise, the recording
    /// starts over, see [`Window::starts_over`].
    pub eager: bool,
    /// A window of a plain file that is read eagerly is made at the first end of a round behind so many bytes.
    pub eager_bytes: u64,
    /// The first of those windows is made behind so many bytes, where that is less, and each of the next behind twice as
    /// many as the one before, so that the replay begins soon.
    pub eager_first_bytes: u64,
    /// Bytes of a stream that are read at a time. Records that leave a block are copied to the next one, so blocks are
    /// much larger than records.
    pub read_bytes: usize,
}

impl Default for SessionOptions {
    /// 32 MiB, the first window as the others; no switches, no architecture; 1 GiB, 64 MiB, 4 MiB; not eager, 128 MiB,
    /// the first of 4 MiB.
    fn default() -> Self {
        Self {
            window_bytes: 32 << 20,
            first_bytes: u64::MAX,
            switches: false,
            fallback_arch: None,
            pending_bytes: 1 << 30,
            expansion_bytes: 64 << 20,
            eager: false,
            eager_bytes: 128 << 20,
            eager_first_bytes: 4 << 20,
            read_bytes: 4 << 20,
        }
    }
}

/// What the reading thread tells.
pub(crate) enum Message {
    Head(Arc<Head>),
    Window {
        window: Window,
        counts: RecordCounts,
        findings: Findings,
    },
    /// All windows so far are void; the next one begins the recording again.
    StartOver,
    End {
        head: Arc<Head>,
        counts: RecordCounts,
        findings: Findings,
    },
}

/// A recording that is being read.
///
/// A plain file gives one window, whose bytes are those of the file, or several where it is read eagerly. A stream, and a file with compressed records,
/// give many; at most one of them waits while another is made.
#[derive(Debug)]
pub struct Session {
    head: Arc<Head>,
    counts: RecordCounts,
    messages: Receiver<Message>,
    is_open: bool,
    is_ended: bool,
    /// What was found when the recording was opened.
    at_open: Findings,
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
        let mut opened = open(input, options, findings)?;
        opened.head.set_fallback_arch(options.fallback_arch);
        let (sender, messages) = sync_channel(1);
        std::thread::spawn(move || read(opened, options, sender));
        let mut session = Self {
            head: Arc::new(Head::of_stream(crate::Endian::Little)),
            counts: RecordCounts::default(),
            messages,
            is_open: false,
            is_ended: false,
            at_open: Findings::default(),
        };
        let window = session.next_window(findings);
        debug_assert!(window.is_none(), "the head comes first");
        session.is_open = true;
        session.at_open = findings.clone();
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

    /// The next window, in time order; `None` behind the last one. Where it starts over, the findings become those of
    /// the time when the recording was opened.
    pub fn next_window(&mut self, findings: &mut Findings) -> Option<Window> {
        let mut starts_over = false;
        while !self.is_ended {
            match self.messages.recv() {
                Ok(Message::Head(head)) => {
                    self.head = head;
                    if !self.is_open {
                        return None;
                    }
                }
                Ok(Message::StartOver) => {
                    *findings = self.at_open.clone();
                    starts_over = true;
                }
                Ok(Message::Window { mut window, counts, findings: found }) => {
                    window.starts_over = starts_over;
                    self.head = Arc::clone(window.head());
                    self.counts = counts;
                    findings.merge(&found);
                    return Some(window);
                }
                Ok(Message::End { head, counts, findings: found }) => {
                    self.head = head;
                    self.counts = counts;
                    findings.merge(&found);
                    self.is_ended = true;
                }
                Err(_) => self.is_ended = true,
            }
        }
        None
    }
}

/// The reading thread.
fn read(opened: Opened, options: SessionOptions, out: SyncSender<Message>) {
    let again = opened.again().filter(|_| options.eager);
    let gather = Gather::new(out.clone(), options, opened.may_stream);
    let (gather, is_eager) = match (opened.is_stream, &again) {
        (true, _) => (gather.windowed(), false),
        (false, Some(_)) => (gather.eager(), true),
        (false, None) => (gather, false),
    };
    if !read_with(opened, options, gather) || !is_eager {
        return;
    }
    if let Some(opened) = again
        && out.send(Message::StartOver).is_ok()
    {
        let gather = Gather::new(out, options, opened.may_stream);
        read_with(opened, options, gather);
    }
}

/// Reads all; whether it was in vain and is to be done again.
fn read_with(opened: Opened, options: SessionOptions, gather: Gather) -> bool {
    let mut driver = Driver::new(Arc::new(opened.head), options.expansion_bytes, gather);
    if driver.run(opened.feeds) == Flow::Stop {
        return driver.sink.is_in_vain();
    }
    let Driver { head, mut counts, mut findings, mut sink, .. } = driver;
    let context = Context { head: &head, counts: &mut counts, findings: &mut findings };
    if sink.finish(context) == Flow::Continue {
        sink.tell_end(head, counts, findings);
    }
    false
}
