//! Live streams: the batches depend on the bytes only, not on how the stream is divided into pieces.

use std::io::{self, Read};
use std::time::Duration;

use synth::{Endian, PipeLayout};

use super::session::{OPTIONS, file, read, recording};
use crate::{Findings, Input, LiveBatches, LiveRead, NextBatch, Session, SessionOptions};

/// Stream that delivers `piece` bytes at a time, and before each piece reports that none are available.
struct Pieces {
    bytes: Vec<u8>,
    at: usize,
    piece: usize,
    there: usize,
    /// End of the stream; `WouldBlock` means never.
    end: Result<(), io::ErrorKind>,
}

impl Read for Pieces {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let rest = &self.bytes[self.at..];
        let len = rest.len().min(bytes.len()).min(self.there);
        bytes[..len].copy_from_slice(&rest[..len]);
        self.at += len;
        self.there -= len;
        Ok(len)
    }
}

impl LiveRead for Pieces {
    fn ready(&mut self, wait: Duration) -> io::Result<Option<usize>> {
        if self.at == self.bytes.len() && self.end == Err(io::ErrorKind::WouldBlock) {
            std::thread::sleep(wait);
            return Ok(None);
        }
        if self.at == self.bytes.len() {
            return self.end.map(|()| Some(1)).map_err(io::Error::from);
        }
        if self.there == 0 {
            self.there = self.piece;
            return Ok(None);
        }
        Ok(Some(self.there))
    }

    fn read_up_to(&mut self, most: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        self.by_ref().take(most as u64).read_to_end(bytes)
    }
}

fn pieces(piece: usize, end: Result<(), io::ErrorKind>) -> Input {
    let bytes = recording(Endian::Little).build_pipe(&PipeLayout::default());
    Input::Live(Box::new(Pieces { bytes, at: 0, piece, there: 0, end }))
}

/// The rounds are 5 ns apart, and their samples span 10 ns.
fn options(every: u64) -> SessionOptions {
    let live = Some(LiveBatches { every, waiting: 1 });
    SessionOptions { batch_bytes: u64::MAX, live, ..*OPTIONS }
}

/// Returns the number of samples of each batch.
fn batches(input: Input, every: u64) -> Vec<usize> {
    let mut findings = Findings::default();
    let mut session = Session::open(input, options(every), &mut findings).expect("a recording");
    let mut batches = Vec::new();
    while let Some(batch) = session.next_batch(&mut findings) {
        batches.push(batch.samples().len());
    }
    assert!(findings.is_empty(), "{findings:?}");
    batches
}

#[test]
fn batches_do_not_depend_on_the_pieces() {
    let (expected, ..) = read(file(&recording(Endian::Little).build()), *OPTIONS);
    let whole = batches(pieces(usize::MAX, Ok(())), 20);
    assert_eq!((whole.iter().sum::<usize>(), whole.len()), (240, 11));
    for piece in [7, 100, 1000, 5000] {
        let (read, _, findings) = read(pieces(piece, Ok(())), options(20));
        assert_eq!(read, expected, "{piece}");
        assert!(findings.is_empty(), "{findings:?}");
        assert_eq!(batches(pieces(piece, Ok(())), 20), whole, "{piece}");
    }
    let longer = batches(pieces(100, Ok(())), 100);
    assert_eq!(longer.len(), 3, "{longer:?}");
}

#[test]
fn waiting_batches_are_counted() {
    let live = Some(LiveBatches { every: 20, waiting: 100 });
    let options = SessionOptions { batch_bytes: u64::MAX, live, ..*OPTIONS };
    let mut findings = Findings::default();
    let input = pieces(1000, Ok(()));
    let mut session = Session::open(input, options, &mut findings).expect("a recording");
    // The last message is the end.
    while session.waiting() < 12 {
        std::thread::yield_now();
    }
    let waiting: Vec<usize> = std::iter::from_fn(|| {
        session.next_batch(&mut findings)?;
        Some(session.waiting())
    })
    .collect();
    assert_eq!(waiting, [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(session.waiting(), 0);
}

#[test]
fn a_stream_that_nobody_wants_any_more_ends() {
    let end = Err(io::ErrorKind::ConnectionAborted);
    let (_, _, findings) = read(pieces(1000, end), options(20));
    let text: Vec<String> =
        findings.iter().flat_map(|it| it.examples).map(ToString::to_string).collect();
    assert_eq!(text.len(), 1, "{text:?}");
    assert!(text[0].contains("connection aborted"), "{text:?}");
}

#[test]
fn one_can_wait_for_a_batch_for_a_while() {
    let bytes = recording(Endian::Little).build_pipe(&PipeLayout::default());
    let half = bytes.len() / 2;
    let first = Pieces {
        bytes: bytes[..half].to_vec(),
        at: 0,
        piece: 999,
        there: 0,
        end: Err(io::ErrorKind::WouldBlock),
    };
    let input = Input::Live(Box::new(first));
    let mut findings = Findings::default();
    let mut session = Session::open(input, options(20), &mut findings).expect("a recording");
    let wait = Duration::from_millis(50);
    let mut samples = 0;
    // Complete records are sent although the stream has not ended.
    while samples < 100 {
        if let NextBatch::Batch(batch) = session.next_batch_within(wait, &mut findings) {
            samples += batch.samples().len();
        }
    }
    let rest = loop {
        match session.next_batch_within(wait, &mut findings) {
            NextBatch::Batch(_) => {}
            rest => break rest,
        }
    };
    assert!(matches!(rest, NextBatch::NotYet));
}
