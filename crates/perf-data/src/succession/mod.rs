//! Two recordings of the same events, one after the other, as one stream: the second recorder starts before the first
//! one ends, so that no sample is missed.
//!
//! ```text
//!   first    .......................|
//!   second             |dropped.....|..................
//!                                   last time of the first
//! ```

mod events;
mod records;

#[cfg(test)]
mod tests;

use std::io::{self, Cursor, ErrorKind, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::events::{IdMap, StreamEvents};
use self::records::{CHUNK, Piece, RecordStream};
use crate::record_header::RecordKind;

/// A stream that another one may succeed. Clones share their state.
#[derive(Clone, Debug, Default)]
pub struct StreamSuccession(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    next: Mutex<NextStream>,
    /// Samples of the second stream that the first one has, too.
    overlap: AtomicU64,
}

/// The stream after the first one.
#[derive(Debug, Default)]
enum NextStream {
    /// None yet.
    #[default]
    None,
    /// Its bytes arrive here.
    Arriving(Receiver<Vec<u8>>),
    /// The first stream has ended, or a second one has been used.
    Closed,
}

impl StreamSuccession {
    /// Lets another stream of the same events follow, and reads it from now on. Returns false if the first stream has
    /// ended, or if there is a second one already.
    pub fn follow(&self, mut second: impl Read + Send + 'static) -> bool {
        let mut next = self.next();
        if !matches!(*next, NextStream::None) {
            return false;
        }
        let (sender, receiver) = channel();
        *next = NextStream::Arriving(receiver);
        // Its recorder does not wait for the end of the first one.
        std::thread::spawn(move || {
            let mut chunk = vec![0; CHUNK];
            loop {
                match second.read(&mut chunk) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    // A second stream that cannot be read ends like one that is complete.
                    Ok(0) | Err(_) => return,
                    Ok(read) => {
                        let bytes = chunk.get(..read).unwrap_or_default().to_vec();
                        if sender.send(bytes).is_err() {
                            return;
                        }
                    }
                }
            }
        });
        true
    }

    /// Copies the first stream, and then the second one if there is one, from the last time of the first one on.
    ///
    /// # Errors
    /// If a stream cannot be read, or `out` cannot be written.
    pub fn copy(&self, first: impl Read, mut out: impl Write) -> io::Result<()> {
        let (events, last) = copy_first(first, &mut out)?;
        let next = std::mem::replace(&mut *self.next(), NextStream::Closed);
        match next {
            NextStream::Arriving(bytes) => {
                self.copy_second(Arriving::new(bytes), &events, last, &mut out)
            }
            NextStream::None | NextStream::Closed => Ok(()),
        }
    }

    /// Returns the number of samples that both recorders took. Those of the second one are not in the stream.
    #[must_use]
    pub fn overlap(&self) -> u64 {
        self.0.overlap.load(Ordering::Relaxed)
    }

    fn next(&self) -> MutexGuard<'_, NextStream> {
        self.0.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies the records after a time, with the ids of the first stream's events.
    fn copy_second(
        &self,
        second: impl Read,
        first: &StreamEvents,
        last: u64,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let mut records = RecordStream::new(second);
        let mut events = StreamEvents::default();
        let mut ids = None;
        let mut chunk = Vec::new();
        while records.next_chunk(|piece| {
            let Piece::Record(kind, record) = piece else { return };
            events.take_in(kind, record);
            if kind.0 >= RecordKind::FIRST_USER {
                // The others repeat what the first stream stated.
                if [RecordKind::FINISHED_ROUND, RecordKind::HEADER_BUILD_ID].contains(&kind) {
                    chunk.extend_from_slice(record);
                }
            } else if events.time_of(kind, record).is_some_and(|time| time > last) {
                let ids = ids.get_or_insert_with(|| IdMap::new(&events, first));
                ids.rename(&events, kind, record);
                chunk.extend_from_slice(record);
            } else if kind == RecordKind::SAMPLE {
                self.0.overlap.fetch_add(1, Ordering::Relaxed);
            }
        })? {
            out.write_all(&chunk)?;
            chunk.clear();
        }
        out.write_all(&chunk)
    }
}

/// Copies a stream. Returns its events and its last time.
fn copy_first(first: impl Read, out: &mut impl Write) -> io::Result<(StreamEvents, u64)> {
    let mut records = RecordStream::new(first);
    let mut events = StreamEvents::default();
    let (mut chunk, mut last) = (Vec::new(), 0);
    while records.next_chunk(|piece| match piece {
        Piece::Record(kind, record) => {
            events.take_in(kind, record);
            last = last.max(events.time_of(kind, record).unwrap_or_default());
            chunk.extend_from_slice(record);
        }
        Piece::Other(bytes) => chunk.extend_from_slice(bytes),
    })? {
        out.write_all(&chunk)?;
        chunk.clear();
    }
    out.write_all(&chunk)?;
    Ok((events, last))
}

/// Bytes that another thread reads.
struct Arriving {
    chunks: Receiver<Vec<u8>>,
    chunk: Cursor<Vec<u8>>,
}

impl Arriving {
    fn new(chunks: Receiver<Vec<u8>>) -> Self {
        Self { chunks, chunk: Cursor::default() }
    }
}

impl Read for Arriving {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.chunk.read(buffer)? {
                0 => match self.chunks.recv() {
                    Ok(chunk) => self.chunk = Cursor::new(chunk),
                    // The stream has ended.
                    Err(_) => return Ok(0),
                },
                read => return Ok(read),
            }
        }
    }
}
